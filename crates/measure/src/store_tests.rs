#![allow(clippy::unwrap_used)]
use super::*;
use crate::Interval;

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("deep/results")).unwrap();
    (folder, store)
}

#[test]
fn lines_come_back_in_order() {
    let (_folder, store) = store();
    assert!(store.lines::<u32>("none").unwrap().is_empty());
    for n in 0..5u32 {
        store.append("numbers", &n).unwrap();
    }
    let records = store.lines::<u32>("numbers").unwrap();
    assert_eq!(records.iter().map(|record| record.result).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(records.iter().all(|record| record.schema == SCHEMA));
}

#[test]
fn a_crash_at_any_byte_loses_only_the_last_line() {
    let (_folder, store) = store();
    store.append("i", &Interval::exact(1.0)).unwrap();
    let path = store.folder().join("i.jsonl");
    let first = fs::read(&path).unwrap();
    store.append("i", &Interval::exact(2.0)).unwrap();
    let both = fs::read(&path).unwrap();
    for cut in first.len()..both.len() - 1 {
        fs::write(&path, &both[..cut]).unwrap();
        let whole = store.lines::<Interval>("i").unwrap();
        // A line that lacks only its newline is complete JSON
        assert!(whole.len() == if cut == both.len() - 1 { 2 } else { 1 }, "cut at {cut}");
        store.append("i", &Interval::exact(3.0)).unwrap();
        let after: Vec<f64> = store.lines::<Interval>("i").unwrap().iter().map(|r| r.result.median).collect();
        assert_eq!(after, [1.0, 3.0], "cut at {cut}");
    }
}

#[test]
fn a_line_of_something_else_is_an_error() {
    let (_folder, store) = store();
    fs::write(store.folder().join("odd.jsonl"), "not json\n").unwrap();
    assert!(store.lines::<u32>("odd").is_err());
    fs::write(store.folder().join("new.jsonl"), "{\"schema\":999,\"date\":\"\",\"result\":1}\n").unwrap();
    let error = store.lines::<u32>("new").unwrap_err().to_string();
    assert!(error.contains("schema 999"), "{error}");
}

#[test]
fn a_damaged_file_is_named_by_its_line_and_has_a_hint_beside_the_error() {
    let (_folder, store) = store();
    store.append("odd", &1u32).unwrap();
    let path = store.folder().join("odd.jsonl");
    fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"schema\": x}\n").unwrap();
    let error = store.lines::<u32>("odd").unwrap_err();
    assert!(error.to_string().starts_with("line 2, column"), "{error}");
    fs::write(store.folder().join("old.json"), "{\"schema\":1,\"date\":\"\",\"result\":1}\n").unwrap();
    fs::write(store.folder().join("cut.json"), "{\"schema\":2").unwrap();
    fs::write(store.folder().join("other.json"), "{\"schema\":2,\"date\":\"\",\"result\":\"x\"}\n").unwrap();
    fs::write(store.folder().join("bytes.jsonl"), b"\xff\n").unwrap();
    let read = |name| store.read::<u32>(name).unwrap_err();
    for error in [error, read("old"), read("cut"), read("other"), store.lines::<u32>("bytes").unwrap_err()] {
        assert!(!error.to_string().contains('\n') && !error.to_string().contains("hint"), "{error}");
        assert!(hint(&error).is_some_and(|hint| hint.contains("move the file away")), "{error}");
    }
    fs::create_dir(store.folder().join("folder.json")).unwrap();
    assert_eq!(hint(&read("folder")), None, "it could not be read at all");
}

#[test]
fn a_folder_is_tried_without_a_trace() {
    let (_folder, store) = store();
    store.probe().unwrap();
    assert_eq!(fs::read_dir(store.folder()).unwrap().count(), 0);
    fs::remove_dir(store.folder()).unwrap();
    assert!(store.probe().is_err());
}

#[test]
fn lines_are_set_aside() {
    let (_folder, store) = store();
    fs::write(store.folder().join("odd.jsonl"), "not json\n").unwrap();
    store.set_aside("odd").unwrap();
    assert!(store.lines::<u32>("odd").unwrap().is_empty());
    assert_eq!(fs::read_to_string(store.folder().join("odd.jsonl.damaged")).unwrap(), "not json\n");
}

#[test]
fn documents_are_replaced_whole() {
    let (_folder, store) = store();
    assert!(store.read::<Vec<u32>>("doc").unwrap().is_none());
    store.write("doc", &vec![1u32; 1000]).unwrap();
    store.write("doc", &vec![2u32]).unwrap();
    assert_eq!(store.read::<Vec<u32>>("doc").unwrap().unwrap().result, [2]);
    let files: Vec<_> = fs::read_dir(store.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["doc.json"], "no temporary file stays");
}

#[cfg(unix)]
#[test]
fn a_failed_write_leaves_the_old_document() {
    let (_folder, store) = store();
    store.write("doc", &1u32).unwrap();
    // A folder with the target's name makes the rename fail
    fs::create_dir(store.folder().join("blocked.json")).unwrap();
    fs::write(store.folder().join("blocked.json/inside"), "").unwrap();
    assert!(store.write("blocked", &2u32).is_err());
    assert_eq!(store.read::<u32>("doc").unwrap().unwrap().result, 1);
    let left = fs::read_dir(store.folder()).unwrap().count();
    assert_eq!(left, 2, "no temporary file stays");
}

#[cfg(unix)]
#[test]
fn documents_can_be_read_by_others_as_the_umask_allows() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, store) = store();
    store.write("doc", &1u32).unwrap();
    let plain = store.folder().join("plain");
    fs::write(&plain, "").unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(store.folder().join("doc.json")), mode(plain));
}

#[test]
fn a_bare_file_name_is_written_here() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    write_atomically(&path, b"<p>").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"<p>");
    assert!(write_atomically(&folder.path().join("missing/page.html"), b"x").is_err());
}
