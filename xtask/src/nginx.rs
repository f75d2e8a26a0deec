//! nginx with the OpenSSL provider, without support for it in nginx: serves a file over TLS 1.2 and 1.3.

use std::{fs, path::Path, process::Command};

use crate::{
    programs::answers,
    provider::{OFFERS, Stopped, Tls, free_port},
    steps::{Checked, Steps},
};

pub(crate) fn run(steps: &mut Steps, folder: &Path) {
    // In Debian it is not in the path of ordinary users.
    let Some(nginx) = ["nginx", "/usr/sbin/nginx"].into_iter().find(|nginx| answers(nginx, "-v")) else {
        return steps.skip("OpenSSL provider in nginx", "nginx is needed (Debian: apt install nginx-light)");
    };
    steps.check("OpenSSL provider in nginx", |_| match serve(nginx, folder) {
        Ok(()) => Checked::Right(format!("{} connections of TLS 1.2 and 1.3", OFFERS.len())),
        Err(why) => Checked::Wrong(vec![why]),
    });
}

fn serve(nginx: &str, folder: &Path) -> Result<(), String> {
    let (tls, port) = (Tls::new(folder)?, free_port()?);
    let own = folder.join("nginx");
    fs::create_dir_all(&own).map_err(|error| error.to_string())?;
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|what| format!("  {what}_temp_path \"{}/{what}\";\n", own.display()))
        .concat();
    // One process, which serves; it need not be root. Paths may have spaces.
    let settings = format!(
        "daemon off;\nmaster_process off;\npid \"{0}/pid\";\nerror_log \"{0}/error.log\";\nevents {{}}\nhttp {{\n{temporary}  access_log off;\n  \
         server {{\n    listen 127.0.0.1:{port} ssl;\n    root \"{1}\";\n    ssl_certificate \"{2}\";\n    ssl_certificate_key \"{3}\";\n    \
         ssl_protocols TLSv1.2 TLSv1.3;\n  }}\n}}\n",
        own.display(),
        tls.www().display(),
        tls.certificate.display(),
        tls.key.display()
    );
    let file = own.join("nginx.conf");
    fs::write(&file, settings).map_err(|error| error.to_string())?;
    let mut command = Command::new(nginx);
    command.arg("-c").arg(&file).arg("-p").arg(&own).env("OPENSSL_CONF", &tls.settings);
    let server = Stopped::listening(&mut command, port).map_err(|why| {
        let log = fs::read_to_string(own.join("error.log")).unwrap_or_default();
        format!("{why}; its log:\n{log}")
    })?;
    if !server.uses_ours() {
        return Err("nginx has not loaded the provider".into());
    }
    OFFERS.into_iter().try_for_each(|offer| tls.fetch(port, offer, false))
}
