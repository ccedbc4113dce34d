//! Which roots and roles are accepted, and from whom.

use launchway_developers::{Signers, new_key, role_of};
use launchway_domain::scope::Scope;
use launchway_domain::time::DAY;
use launchway_trust::SigningKey;
use serde_json::{Value, json};

use super::{Scene, page};
use crate::stage::{BUNDLE, Stage};
use crate::support::{Fields, START};

#[tokio::test]
async fn hostile_metadata_changes_nothing() {
    let mut scene = Scene::new().await;
    let before = scene.trust().await;
    let good = scene.developers.sign_role(&role_of("production"), START);
    let twice = good.replacen("{\"keyid\"", "{\"keyid\":\"a\",\"keyid\"", 1);
    let deep = format!("{{\"signatures\":[],\"signed\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
    let long = format!("{good}{}", " ".repeat(70 << 10));
    let many = format!(
        "{{\"signatures\":[{}],\"signed\":{}",
        (0..33).map(|id| format!("{{\"keyid\":\"{id}\",\"sig\":\"00\"}}")).collect::<Vec<_>>().join(","),
        good.split_once("\"signed\":").unwrap().1
    );
    let rows = [
        (deep, "nests deeper than 32 levels"),
        (twice, "has a name twice"),
        (long, "is longer than 65536 bytes"),
        (many, "may have at most 32 signatures"),
        (String::new(), "is not JSON"),
        ("null".to_owned(), "has no valid `signed`"),
        ("{\"signatures\":[],\"signed\":{\"_type\":\"root\",\"version\":1.5}}".to_owned(), "integer"),
        (good.replace("\"targets\"", "\"root\""), "is not of the type `targets`"),
        (good.replace("1.0.31", "2.0.0"), "other than 1.x"),
        (good.replace("\"version\":2", "\"version\":0"), "has no valid `version`"),
        (good.replace("com.example.app", "com.example.other"), "is for another repository or app"),
        (good.replace("\"version\":2", "\"version\":3"), "has no valid signature"),
        (good.replace("\"version\":2", "\"version\":1"), "version 1 is in use"),
    ];
    for (text, part) in rows {
        let message = scene.send(&[], &[("c-production", text)]).await.refusal(400);
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
    for (name, part) in [("c-", "is not a role"), ("root", "is not a role"), ("c-staging", "does not delegate")] {
        let message = scene.send(&[], &[(name, good.clone())]).await.refusal(400);
        assert!(message.contains(part), "{name}: {message}");
    }
    let many: Vec<_> = (0..65).map(|number| (format!("c-{number}"), good.clone())).collect();
    let many: Vec<_> = many.iter().map(|(name, text)| (name.as_str(), text[..200].to_owned())).collect();
    let message = scene.send(&[], &many).await.refusal(400);
    assert!(message.starts_with("A request may have at most 64 roles"), "{message}");
    let message = scene.send(&["{}"; 17].map(str::to_owned), &[]).await.refusal(400);
    assert!(message.starts_with("A request may have at most 16 roots"), "{message}");
    scene.send(&["x".repeat(1 << 20)], &[]).await.is(413);
    scene.send(&[], &[]).await.refused(400, "Send roots, roles or both");
    assert_eq!(scene.trust().await, before);
    // The same file without a change is accepted: nothing above was refused for another reason.
    scene.send(&[], &[("c-production", good)]).await.created();
}

/// Every node holds them all in memory, so an organization cannot fill it with roots.
#[tokio::test]
async fn an_app_has_a_bounded_number_of_roots() {
    let mut scene = Scene::new().await;
    while scene.developers.root_version < 256 {
        let count = (256 - scene.developers.root_version).min(16);
        let chain: Vec<_> = (0..count).map(|_| scene.developers.sign_root(&[], START)).collect();
        scene.send(&chain, &[]).await.created();
    }
    let root = scene.developers.sign_root(&[], START);
    let message = "The root has version 257, but an app may have at most 256 roots";
    scene.send(&[root], &[]).await.refused(400, message);
}

#[tokio::test]
async fn each_rule_of_the_profile_holds() {
    let mut scene = Scene::new().await;
    let now = START;
    let before = scene.trust().await;
    let production = role_of("production");
    let expired = scene.developers.sign_role_as(&production, 2, now);
    let unknown = {
        let signers = scene.developers.signers(&production);
        let keys = std::mem::replace(&mut signers.keys, vec![new_key()]);
        let text = scene.developers.sign_role_as(&production, 2, now + DAY);
        scene.developers.signers(&production).keys = keys;
        text
    };
    for (text, part) in [(expired, "expired 2026-11-20T10:00:00.000Z"), (unknown, "has no valid signature")] {
        let message = scene.send(&[], &[("c-production", text)]).await.refusal(400);
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
    let release = {
        let package = page("nowhere");
        let platform = launchway_domain::platform::Platform::Ios;
        let release = launchway_developers::Release {
            role: &production,
            platform,
            version: "9.9.9",
            build: 9,
            package: &package,
        };
        scene.developers.sign_release(&release, now)
    };
    let message = scene.send(&[], &[("c-production", release.clone())]).await.refusal(400);
    assert!(message.contains("c-production/ios/9.9.9_9.zip` is not an update of this app"), "{message}");
    let online = scene.developers.online;
    scene.developers.online = *new_key().public();
    let root = scene.developers.sign_root(&[], now);
    scene.developers.online = online;
    let message = scene.send(&[root], &[]).await.refusal(400);
    assert!(message.contains("must be signed by the server's key alone"), "{message}");
    assert_eq!(scene.trust().await, before);
    // A server that lost an update in a restored backup takes the role if it is told so.
    let body = json!({
        "bundleId": BUNDLE, "basedOn": before["snapshot"], "roles": {"c-production": release}, "restore": true,
    });
    scene.stage.post(&scene.stage.key, "/trust", body).await.created();
    assert_eq!(scene.version("c-production").await, 2);
}

#[tokio::test]
async fn the_bundle_id_may_have_any_letter_case() {
    let mut scene = Scene::new().await;
    let file = scene.developers.sign_role(&role_of("production"), START);
    let spelled = "Com.Example.APP";
    let basis = scene.stage.get(&scene.stage.key, &format!("/trust?bundleId={spelled}")).await.ok()["snapshot"].clone();
    let body = json!({"bundleId": spelled, "basedOn": basis, "roles": {"c-production": file}});
    scene.stage.post(&scene.stage.key, "/trust", body).await.created();
    let path = format!("{}/tuf/{spelled}/timestamp.json", scene.stage.origin);
    let timestamp = scene.stage.get(crate::support::NOBODY, &path).await.ok();
    assert_eq!(timestamp["signed"]["x-launchway"]["bundleId"], BUNDLE, "as the first root spells it");
}

#[tokio::test]
async fn the_first_files_need_all_their_signatures() {
    let stage = Stage::new().await;
    let online = stage.new_online_key().await;
    let mut developers = launchway_developers::Developers::new(BUNDLE, &online, &[role_of("production")]);
    let good = developers.first_trust(START);
    let names =
        [("root", "The first root of a repository needs all its signatures"), ("targets", "`targets` needs all")];
    for (name, part) in names.into_iter().chain([("c-production", "`c-production` needs all its signatures")]) {
        let mut body = good.clone();
        let place = match name {
            "root" => &mut body["roots"][0],
            name => &mut body["roles"][name],
        };
        let mut file: Value = serde_json::from_str(place.as_str().unwrap()).unwrap();
        file["signatures"] = json!([]);
        *place = file.to_string().into();
        let message = stage.post(&stage.key, "/trust", body).await.refusal(400);
        assert!(message.starts_with(part), "{name}: {message}");
    }
    let mut body = good.clone();
    body["roles"] = json!({});
    stage.post(&stage.key, "/trust", body).await.refused(400, "The first root must be sent together with `targets`");
    stage.post(&stage.key, "/trust", good).await.created();
}

#[tokio::test]
async fn a_change_says_what_it_is_based_on() {
    let mut scene = Scene::new().await;
    let file = scene.developers.sign_role(&role_of("production"), START);
    let basis = scene.trust().await["snapshot"].as_u64().unwrap();
    let send = async |based_on: Value| {
        let mut body = json!({"bundleId": BUNDLE, "roles": {"c-production": file}});
        body["basedOn"] = based_on;
        scene.stage.post(&scene.stage.key, "/trust", body).await
    };
    send(Value::Null).await.refused(400, "basedOn is required: send the `snapshot` of GET /trust");
    let message = send(json!(basis - 1)).await.refusal(400);
    assert_eq!(
        message,
        format!("The metadata changed: the snapshot has version {basis} now. Fetch GET /trust and try again.")
    );
    let accepted = send(json!(basis)).await.created();
    assert_eq!(accepted["accepted"], json!(["c-production"]));
    assert_eq!(accepted["trust"], scene.trust().await);
    assert!(accepted["trust"]["snapshot"].as_u64().unwrap() > basis);
}

#[tokio::test]
async fn a_repeated_request_gets_the_same_response() {
    let mut scene = Scene::new().await;
    let body = json!({
        "bundleId": BUNDLE, "basedOn": scene.trust().await["snapshot"],
        "roles": {"c-production": scene.developers.sign_role(&role_of("production"), START)},
    });
    let send = async || {
        let request = scene.stage.request_by(&scene.stage.key, reqwest::Method::POST, "/trust");
        crate::support::Answer::to(request.header("idempotency-key", "once").json(&body)).await.created()
    };
    let first = send().await;
    assert_eq!(send().await, first);
    assert_eq!(scene.version("c-production").await, 2);
}

#[tokio::test]
async fn a_chain_of_roots_needs_only_its_last_one_valid() {
    let mut scene = Scene::new().await;
    let short = launchway_trust::profile::ROOT_LIFETIME;
    // The first of them has expired when the chain arrives.
    let expired = scene.developers.sign_root(&[], START - short);
    let valid = scene.developers.sign_root(&[], START);
    let message = scene.send(std::slice::from_ref(&expired), &[]).await.refusal(400);
    assert!(message.starts_with("`root` expired"), "{message}");
    let message = scene.send(std::slice::from_ref(&valid), &[]).await.refusal(400);
    assert!(message.contains("The root has version 3, but the next version is 2"), "{message}");
    let message = scene.send(&[expired.clone(), expired.clone()], &[]).await.refusal(400);
    assert!(message.contains("The root has version 2, but the next version is 3"), "{message}");
    scene.send(&[expired, valid], &[]).await.created();
    assert_eq!(scene.version("root").await, 3);
}

#[tokio::test]
async fn a_new_root_is_signed_by_the_old_keys_and_its_own() {
    let mut scene = Scene::new().await;
    let old = std::mem::replace(&mut scene.developers.root_keys, vec![new_key()]);
    let alone = scene.developers.sign_root(&[], START);
    let targets = scene.developers.sign_targets(START);
    // Signed by the new keys alone it is a draft at best, and phones are served nothing of it.
    let draft = scene.send(&[alone], &[("targets", targets.clone())]).await.created();
    assert_eq!((&draft["accepted"], &draft["drafts"]), (&json!([]), &json!(["root", "targets"])));
    assert_eq!(scene.version("root").await, 1);
    let path = format!("/trust/drafts?bundleId={BUNDLE}&role=root");
    let metadata = scene.stage.get(&scene.stage.key, &path).await.ok();
    // A bundle identifier that none can have names an app without drafts.
    let list = scene.stage.get(&scene.stage.key, "/trust/drafts?bundleId=a..b").await.ok();
    assert_eq!((&list["items"], &list["total"]), (&json!([]), &json!(0)));
    scene.stage.get(&scene.stage.key, "/trust/drafts?bundleId=a..b&role=root").await.expect(404);
    scene.stage.get(&scene.stage.key, "/trust/drafts").await.refused(400, "bundleId is required");
    // The old key adds its signature, and both become current together.
    let file: launchway_trust::metadata::Metadata<launchway_trust::metadata::Root> =
        launchway_trust::metadata::Metadata::parse(metadata.text("metadata").as_bytes()).unwrap();
    let signature = old[0].sign(file.message(), &ring::rand::SystemRandom::new()).unwrap();
    let body = json!({
        "bundleId": BUNDLE, "role": "root", "version": 2,
        "signatures": [{"keyid": old[0].public().id(), "sig": hex::encode(signature)}],
    });
    let accepted = scene.stage.post(&scene.stage.key, "/trust/signatures", body).await.created();
    assert_eq!((&accepted["accepted"], &accepted["drafts"]), (&json!(["root", "targets"]), &json!([])));
    assert_eq!((scene.version("root").await, scene.version("targets").await), (json!(2), json!(2)));
}

#[tokio::test]
async fn what_stays_must_fit_what_is_new() {
    let mut scene = Scene::new().await;
    let old = std::mem::replace(&mut scene.developers.root_keys, vec![new_key()]);
    let former: Vec<&SigningKey> = old.iter().collect();
    let root = scene.developers.sign_root(&former, START);
    let message = scene.send(std::slice::from_ref(&root), &[]).await.refusal(400);
    assert_eq!(
        message,
        "`targets` is no longer signed by enough of its keys. Send its next version in the same request."
    );
    let production = role_of("production");
    scene.developers.signers(&production).keys = vec![new_key()];
    let targets = scene.developers.sign_targets(START);
    let message = scene.send(std::slice::from_ref(&root), &[("targets", targets.clone())]).await.refusal(400);
    assert!(message.starts_with("`c-production` is no longer signed"), "{message}");
    let role = scene.developers.sign_role(&production, START);
    scene.send(&[root], &[("targets", targets), ("c-production", role)]).await.created();
    scene.developers.roles.insert("any".parse().unwrap(), Signers::new());
    let targets = scene.developers.sign_targets(START);
    let message = scene.send(&[], &[("targets", targets.clone())]).await.refusal(400);
    assert!(message.starts_with("`targets` delegates to `any`, which has no file"), "{message}");
    let any = scene.developers.sign_role(&"any".parse().unwrap(), START);
    scene.send(&[], &[("targets", targets), ("any", any)]).await.created();
    // A role of a configuration may get its first file later.
    scene.developers.roles.insert(role_of("staging"), Signers::new());
    let targets = scene.developers.sign_targets(START);
    scene.send(&[], &[("targets", targets)]).await.created();
    assert_eq!(scene.version("c-staging").await, Value::Null);
}

#[tokio::test]
async fn a_new_key_of_the_server_takes_over_with_its_root() {
    let mut scene = Scene::new().await;
    let before = scene.trust().await;
    let online = scene.stage.new_online_key().await;
    scene.developers.online = launchway_trust::PublicKey::from_pem(&online).unwrap();
    let root = scene.developers.sign_root(&[], START);
    scene.send(&[root], &[]).await.created();
    let after = scene.trust().await;
    assert_eq!((&after["pendingOnlineKey"], after["onlineKey"].text("publicKey")), (&Value::Null, online.as_str()));
    for place in [1, 2] {
        assert_eq!(after["roles"][place]["keys"][0]["keyId"], after["onlineKey"]["keyId"]);
        assert_eq!(after["roles"][place]["keys"][0]["signed"], true, "signed in the same change");
    }
    assert!(after["snapshot"].as_u64() > before["snapshot"].as_u64());
    // The old key is not taken back.
    scene.developers.online = launchway_trust::PublicKey::from_pem(before["onlineKey"].text("publicKey")).unwrap();
    let root = scene.developers.sign_root(&[], START);
    scene.send(&[root], &[]).await.is(400);
}

#[tokio::test]
async fn versions_fall_only_when_all_keys_are_replaced() {
    let mut scene = Scene::new().await;
    let production = role_of("production");
    let stolen = scene.developers.sign_role_as(&production, (1 << 53) - 1, START + DAY);
    scene.send(&[], &[("c-production", stolen)]).await.created();
    // Whoever used up the versions has a key that is replaced. Without a new key of the server, phones keep the version.
    scene.developers.signers(&production).keys = vec![new_key()];
    let targets = scene.developers.sign_targets(START);
    let role = scene.developers.sign_role(&production, START);
    let roles = [("targets", targets), ("c-production", role)];
    let message = scene.send(&[], &roles).await.refusal(400);
    assert!(message.contains("`c-production` has version 2, but version 9007199254740991 is in use"), "{message}");
    let online = scene.stage.new_online_key().await;
    scene.developers.online = launchway_trust::PublicKey::from_pem(&online).unwrap();
    let root = scene.developers.sign_root(&[], START);
    scene.send(&[root], &roles).await.created();
    assert_eq!(scene.version("c-production").await, 2);
    scene.publish_signed(5, "after").await.created();
    assert_eq!(scene.version("c-production").await, 3);
}

#[tokio::test]
async fn the_scope_update_renews_and_an_admin_changes() {
    let mut scene = Scene::new().await;
    let ci = scene.stage.key(scene.stage.org, &[Scope::Update]).await;
    let production = role_of("production");
    let renewed = scene.developers.sign_role(&production, START + DAY);
    scene.send_as(&ci, &[], &[("c-production", renewed)]).await.created();
    let (root, targets) = (scene.developers.sign_root(&[], START), scene.developers.sign_targets(START));
    scene.send_as(&ci, &[root], &[("targets", targets)]).await.created();
    let skipping = scene.developers.sign_role_as(&production, 9, START + DAY);
    let message = scene.send_as(&ci, &[], &[("c-production", skipping.clone())]).await.refusal(400);
    assert_eq!(message, "`c-production` has version 9. Only an admin may skip versions: the next one is 3.");
    let revoking = scene.developers.revoke(&production, &page("bad"), START);
    let message = scene.send_as(&ci, &[], &[("c-production", revoking.clone())]).await.refusal(403);
    assert_eq!(message, "This changes more of `c-production` than version and expiry, which requires an admin");
    scene.developers.root_keys.push(new_key());
    let root = scene.developers.sign_root(&[], START);
    scene.send_as(&ci, &[root], &[]).await.is(403);
    scene.send(&[], &[("c-production", revoking)]).await.created();
    scene.send(&[], &[("c-production", skipping)]).await.created();
    let stage = Stage::new().await;
    let ci = stage.key(stage.org, &[Scope::Update]).await;
    let online = stage.new_online_key().await;
    let mut developers = launchway_developers::Developers::new(BUNDLE, &online, &[production]);
    let message = stage.post(&ci, "/trust", developers.first_trust(START)).await.refusal(403);
    assert_eq!(message, "The first root of an app requires an admin");
}

#[tokio::test]
async fn a_revoked_package_is_withdrawn_where_it_is_revoked() {
    let mut scene = Scene::new().await;
    let published = scene.publish_signed(1, "bad").await.created();
    let waiting = scene.publish_unsigned(2, "bad").await.created();
    let other = scene.publish_unsigned(3, "good").await.created();
    let production = role_of("production");
    let revoking = scene.developers.revoke(&production, &page("bad"), START);
    scene.send(&[], &[("c-production", revoking)]).await.created();
    assert_eq!(
        (scene.status(&published).await, scene.status(&waiting).await),
        (json!("withdrawn"), json!("withdrawn"))
    );
    assert_eq!(scene.status(&other).await, "awaiting_signature");
    let draft = scene.draft().await;
    assert_eq!((&draft["updateIds"], &draft["version"]), (&json!([other.id()]), &json!(4)), "the draft is made again");
    let withdrawn = scene.events().await.iter().filter(|kind| *kind == "update.withdrawn").count();
    assert_eq!(withdrawn, 2);
    assert_eq!(scene.offered().await, Value::Null);
    let message = scene.publish_unsigned(4, "bad").await.refusal(400);
    assert_eq!(message, "The package of this update is revoked by `c-production`: phones would never start it");
}
