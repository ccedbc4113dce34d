//! What App Store Connect would refuse of an app: its code, its SDK, its icon, its purpose strings, and its bundles.

use super::{Binary, Code, Expectations, Report, bundles, excerpt, missing_purpose_strings, signed};
use crate::platform::Platform;

pub(super) fn check(binary: &Binary, asked: &Expectations<'_>, report: Report<'_>) {
    if binary.simulator {
        report(
            Code::SimulatorBuild,
            "The binary runs only in a simulator. The store would say: ITMS-90087, unsupported architectures."
                .to_owned(),
        );
    }
    if let Some(architectures) = binary.architectures.as_ref().filter(|_| !binary.simulator) {
        bundles::architectures("The executable", architectures, report);
    }
    if !binary.simulator_code.is_empty() {
        let names: Vec<_> = binary.simulator_code.iter().map(|name| excerpt(name)).collect();
        bundles::simulated(&names.join(", "), report);
    }
    bundles::check(binary, asked, report);
    let floor = asked.apple_sdk_floor;
    if let Some(sdk) = &binary.sdk
        && let Some(major) = sdk.split('.').next().and_then(|major| major.parse::<u32>().ok())
        && major < floor
    {
        let sdk = excerpt(sdk);
        report(
            Code::SdkTooOld,
            format!(
                "The app was built with the SDK {sdk}. The store would say: ITMS-90725, SDK version issue; all apps \
                 must be built with the SDK {floor} or later."
            ),
        );
    }
    if binary.icon == Some(false) && asked.platform == Platform::Ios {
        report(
            Code::IconMissing,
            "The app has no icon in an asset catalog: Info.plist lacks CFBundleIconName, or the app lacks Assets.car. \
             The store would say: ITMS-90713 or ITMS-90704, missing icon."
                .to_owned(),
        );
    }
    signed(binary, asked, "ITMS-90034: missing or invalid signature", report);
    if let (Some(classes), Some(keys)) = (&binary.system_classes, &binary.info_keys) {
        let missing = missing_purpose_strings(classes, keys);
        if !missing.is_empty() {
            let missing = missing.join(", ");
            report(
                Code::PurposeStringMissing,
                format!("Info.plist lacks {missing}. The store would say: ITMS-90683, missing purpose string."),
            );
        }
    }
}
