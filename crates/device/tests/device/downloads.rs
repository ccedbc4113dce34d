//! Downloads from a server that disconnects, lies and changes.

use launchway_device::boot::{Content, Ending};
use launchway_device::check::Answer;
use launchway_device::download::{DownloadError, download, part_path};
use launchway_device::{Device, SyncError, SyncOutcome};

use crate::disk::Disk;
use crate::phone::{Server, Trouble, Update, answer, launch, process};

fn sync(disk: &Disk, server: &Server) -> Result<SyncOutcome, SyncError> {
    process(disk, server, |device| {
        let _ = device.start(&launch(Ending::Explained));
        device.sync(&mut |_| ())
    })
}

fn runs_after_a_start(disk: &Disk, server: &Server) -> bool {
    let started = process(disk, server, |device: &Device<'_>| {
        device.start(&launch(Ending::Explained))
    });
    started.content == Content::Slot(Update::number(1).sha256())
}

/// A server with these faults, one for each download.
fn troubled(troubles: &[Trouble]) -> Server {
    let server = Server::offering(Update::number(1));
    server.troubles.replace(troubles.to_vec());
    server
}

fn ranges(server: &Server) -> Vec<Option<String>> {
    let range = |request: launchway_device::ports::Request| {
        request
            .headers
            .iter()
            .find(|(name, _)| *name == "range")
            .map(|(_, value)| value.clone())
    };
    server.downloads().into_iter().map(range).collect()
}

#[test]
fn a_broken_download_goes_on_where_it_stopped() {
    let (disk, server) = (Disk::new(), troubled(&[Trouble::Breaks(100), Trouble::Breaks(50)]));
    assert!(matches!(sync(&disk, &server), Ok(SyncOutcome::Staged(_))));
    let expected = [None, Some("bytes=100-".to_owned()), Some("bytes=150-".to_owned())];
    assert_eq!(ranges(&server), expected);
    let if_range = server.downloads()[1]
        .headers
        .iter()
        .find(|(name, _)| *name == "if-range")
        .cloned();
    assert_eq!(if_range.unwrap().1, format!("\"{}\"", Update::number(1).sha256()));
    assert!(
        server.downloads()[0]
            .headers
            .contains(&("accept-encoding", "identity".to_owned()))
    );
    assert!(runs_after_a_start(&disk, &server));
}

#[test]
fn it_goes_on_in_another_process_and_at_another_address() {
    let disk = Disk::new();
    let server = troubled(&[
        Trouble::Breaks(100),
        Trouble::Breaks(0),
        Trouble::Breaks(0),
        Trouble::Breaks(0),
    ]);
    let broken = sync(&disk, &server);
    assert!(
        matches!(broken, Err(SyncError::Download(DownloadError::Network(_)))),
        "{broken:?}"
    );
    assert_eq!(disk.bytes(&part_path(Update::number(1).sha256())).unwrap().len(), 100);
    let mut fresh = answer(&Update::number(1));
    fresh["url"] = "https://elsewhere/package?signature=2".into();
    server.says.replace(Some(fresh.to_string()));
    assert!(matches!(sync(&disk, &server), Ok(SyncOutcome::Staged(_))));
    let last = server.downloads().pop().unwrap();
    assert!(last.url.starts_with("https://elsewhere/") && ranges(&server).pop().unwrap().is_some());
}

#[test]
fn every_way_to_answer_a_range_ends_with_the_whole_package() {
    for second in [
        Trouble::Whole,
        Trouble::Shifted,
        Trouble::Garbled,
        Trouble::Encoded,
        Trouble::Endless,
        Trouble::NoEtag,
        Trouble::Status(416),
        Trouble::Status(403),
        Trouble::Status(503),
        Trouble::Status(429),
    ] {
        let (disk, server) = (Disk::new(), troubled(&[Trouble::Breaks(100), second.clone()]));
        let mut synced = sync(&disk, &server);
        if synced.is_err() {
            synced = sync(&disk, &server);
        }
        assert!(matches!(synced, Ok(SyncOutcome::Staged(_))), "{second:?}: {synced:?}");
        assert!(runs_after_a_start(&disk, &server), "{second:?}");
    }
}

#[test]
fn a_range_that_begins_elsewhere_is_not_written() {
    let (disk, server) = (Disk::new(), troubled(&[Trouble::Breaks(100), Trouble::Shifted]));
    let Answer::Update(offer) = process(&disk, &server, |device| {
        let _ = device.start(&launch(Ending::Explained));
        device.check().unwrap()
    }) else {
        panic!("an offer")
    };
    let mut arrived = Vec::new();
    let mut next = || download(&disk, &server, &offer, &mut |bytes| arrived.push(bytes));
    assert!(matches!(next(), Err(DownloadError::Network(_))));
    assert!(matches!(
        next(),
        Err(DownloadError::Wrong("its range is not the requested one"))
    ));
    assert_eq!(arrived, [100]);
}

#[test]
fn without_a_strong_validator_a_download_begins_again() {
    let (disk, server) = (Disk::new(), troubled(&[Trouble::NoEtag, Trouble::Breaks(100)]));
    server.troubles.borrow_mut().insert(0, Trouble::Breaks(100));
    // The first response has an ETag; the second, to a range request, has none and starts over.
    assert!(matches!(sync(&disk, &server), Ok(SyncOutcome::Staged(_))));
    let server = Server::offering(Update::number(1));
    let disk = Disk::new();
    disk.put(&part_path(Update::number(1).sha256()), &Update::number(1).bytes[..100]);
    assert!(matches!(sync(&disk, &server), Ok(SyncOutcome::Staged(_))));
    assert_eq!(ranges(&server), [None]);
}

#[test]
fn a_whole_partial_file_is_not_downloaded_again() {
    let (disk, server) = (Disk::new(), Server::offering(Update::number(1)));
    disk.put(&part_path(Update::number(1).sha256()), &Update::number(1).bytes);
    assert!(matches!(sync(&disk, &server), Ok(SyncOutcome::Staged(_))));
    assert_eq!(server.downloads().len(), 0);
}

#[test]
fn a_partial_file_with_wrong_bytes_is_thrown_away() {
    let (disk, server) = (Disk::new(), Server::offering(Update::number(1)));
    disk.put(
        &part_path(Update::number(1).sha256()),
        &vec![0; Update::number(1).bytes.len()],
    );
    assert!(matches!(sync(&disk, &server), Ok(SyncOutcome::Staged(_))));
    assert_eq!(ranges(&server), [None]);
}

#[test]
fn wrong_bytes_are_never_installed_and_reported_once() {
    let (disk, server) = (Disk::new(), troubled(&[Trouble::Garbled, Trouble::Garbled]));
    let wrong = sync(&disk, &server);
    assert!(
        matches!(wrong, Err(SyncError::Download(DownloadError::Wrong(_)))),
        "{wrong:?}"
    );
    assert!(!runs_after_a_start(&disk, &server));
    assert_eq!(disk.bytes(&part_path(Update::number(1).sha256())), None);
    let reports = server.reports.borrow();
    assert_eq!(reports.len(), 1);
    assert!(
        reports[0].starts_with("failed update_1 the server does not send the package"),
        "{reports:?}"
    );
}

#[test]
fn bytes_without_end_stop_at_the_announced_size() {
    let (disk, server) = (Disk::new(), troubled(&[Trouble::Endless, Trouble::Endless]));
    assert!(matches!(
        sync(&disk, &server),
        Err(SyncError::Download(DownloadError::Wrong(_)))
    ));
    assert!(matches!(sync(&disk, &server), Ok(SyncOutcome::Staged(_))));
}

#[test]
fn an_expired_address_is_asked_anew_and_not_for_ever() {
    let (disk, server) = (
        Disk::new(),
        troubled(&[Trouble::Breaks(100), Trouble::Status(403), Trouble::Status(404)]),
    );
    assert!(matches!(sync(&disk, &server), Ok(SyncOutcome::Staged(_))));
    assert_eq!(ranges(&server).last().unwrap().as_deref(), Some("bytes=100-"));
    let (disk, server) = (Disk::new(), troubled(&vec![Trouble::Status(403); 50]));
    assert!(matches!(
        sync(&disk, &server),
        Err(SyncError::Download(DownloadError::Expired(403)))
    ));
    assert_eq!(server.downloads().len(), 3);
}

#[test]
fn a_server_that_only_fails_is_left_alone_after_four_tries() {
    let (disk, server) = (Disk::new(), troubled(&vec![Trouble::Status(503); 50]));
    assert!(matches!(
        sync(&disk, &server),
        Err(SyncError::Download(DownloadError::Status(503)))
    ));
    assert_eq!(server.downloads().len(), 4);
}

#[test]
fn a_full_phone_is_told_before_a_byte_is_asked() {
    let (disk, server) = (Disk::new(), Server::offering(Update::number(1)));
    disk.set_free(8 << 20);
    let full = sync(&disk, &server);
    assert!(
        matches!(full, Err(SyncError::Download(DownloadError::NoSpace { .. }))),
        "{full:?}"
    );
    assert_eq!(server.downloads().len(), 0);
    disk.set_free(1 << 30);
    assert!(matches!(sync(&disk, &server), Ok(SyncOutcome::Staged(_))));
}

#[test]
fn a_metered_connection_waits_where_the_app_wants_that() {
    let (disk, server) = (Disk::new(), Server::offering(Update::number(1)));
    server.metered.set(true);
    let mut settings = crate::phone::settings();
    settings.wifi_only = true;
    let run = |server: &Server| {
        let ports = launchway_device::Ports {
            storage: &disk,
            network: server,
            clock: &crate::phone::StoppedClock,
            random: &crate::phone::NoRandom,
        };
        let device = Device::open(ports, &settings).unwrap();
        let _ = device.start(&launch(Ending::Explained));
        device.sync(&mut |_| ())
    };
    assert!(matches!(run(&server), Ok(SyncOutcome::WaitsForWifi(_))));
    server.metered.set(false);
    assert!(matches!(run(&server), Ok(SyncOutcome::Staged(_))));
}

#[test]
fn only_one_partial_file_takes_room() {
    let (disk, server) = (Disk::new(), troubled(&[Trouble::Breaks(100)]));
    server.troubles.borrow_mut().extend(vec![Trouble::Status(503); 3]);
    assert!(sync(&disk, &server).is_err());
    server.offer(Update::number(2));
    server.troubles.replace(vec![
        Trouble::Breaks(50),
        Trouble::Status(503),
        Trouble::Status(503),
        Trouble::Status(503),
        Trouble::Status(503),
    ]);
    assert!(sync(&disk, &server).is_err());
    let second = Update::number(2).sha256().to_string();
    let left = disk.files_below("tmp");
    assert!(
        !left.is_empty() && left.keys().all(|name| name.starts_with(&second)),
        "{:?}",
        left.keys()
    );
}
