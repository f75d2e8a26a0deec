//! A folder made by `serve --init`, and a relay that serves from it.
#![allow(clippy::unwrap_used)]
#![allow(dead_code, reason = "each test program uses a part")]

use std::{fs, path::Path, sync::Arc};

use sealwright_relay::{
    Log,
    client::Identity,
    serve::{Config, Server, init},
};

use crate::output::Shared;

/// A folder made by `serve --init` for these clients, with a configuration that allows `allowed`.
pub(crate) fn folder(clients: &[&str], allowed: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let names: Vec<String> = clients.iter().map(|&name| name.to_owned()).collect();
    init(&directory.path().join("trial"), &[], &names).unwrap();
    edit(directory.path(), |text| {
        let text = ["7600", "7601", "7602"].iter().fold(text.to_owned(), |text, port| text.replace(port, "0"));
        let (before, rest) = text.split_once("clients = ").unwrap();
        format!("{before}clients = [{allowed}]\n{}", rest.split_once('\n').unwrap().1)
    });
    directory
}

pub(crate) fn edit(directory: &Path, change: impl Fn(&str) -> String) {
    let path = directory.join("trial/relay.toml");
    let text = change(&fs::read_to_string(&path).unwrap());
    fs::write(&path, text).unwrap();
}

pub(crate) fn config(directory: &Path) -> Config {
    Config::read(&directory.join("trial/relay.toml")).unwrap()
}

pub(crate) fn serve(directory: &Path) -> (Server, Shared) {
    let log = Shared::default();
    (Server::start(&config(directory), Arc::new(Log::to(log.clone()))).unwrap(), log)
}

/// The client with the certificate of `identity`, under another name.
pub(crate) fn named(name: &str, identity: &Identity) -> Identity {
    let mut named = identity.clone();
    named.name = name.into();
    named
}

pub(crate) fn identity(directory: &Path, server: &Server, name: &str) -> Identity {
    let mut identity = Identity::read(&directory.join(format!("trial/{name}.toml"))).unwrap();
    identity.relay = format!("localhost:{}", server.addresses().control.port());
    identity
}
