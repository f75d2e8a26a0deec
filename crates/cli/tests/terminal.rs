//! Prompts on the terminal, whose settings are restored whatever happens.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Stdio};

use sealwright_transcripts::{Sandbox, binaries, have, skipped};

/// A regression: output to the terminal is stopped (Ctrl-S) when the prompt is to be printed, so that printing blocks;
/// then the process ends. The terminal was left without echo.
#[test]
fn an_end_while_the_question_waits_gives_the_echo_back() {
    if !have("script") || !have("stty") {
        return skipped("needs script and stty");
    }
    for name in ["TERM", "HUP"] {
        let sandbox = Sandbox::new();
        sandbox.write("a", "text");
        let wait = |file: &str| format!("for _ in $(seq 300); do test -e {file} && break; sleep 0.1; done");
        // Without job control the command is in the foreground, like a job that was not put into the background.
        // Signals may be ignored in the environment of this test (nohup).
        let inner = format!(
            "stty sane; touch ready; {}; env --default-signal={name} sealwright seal -p --cost 1MiB a & sleep 1; \
             stty -a >during; kill -{name} $!; wait $!; echo $? >code; stty -a >after; touch ended",
            wait("stopped")
        );
        sandbox.write("inner", inner);
        // Ctrl-S, and finally Ctrl-Q.
        let outer = format!(
            "({}; printf '\\023'; sleep 1; touch stopped; {}; printf '\\021'; sleep 1) | script -qefc 'bash inner' screen",
            wait("ready"),
            wait("ended")
        );
        let path = format!("{}:{}", binaries().display(), std::env::var("PATH").unwrap());
        let done = Command::new("sh")
            .args(["-c", &outer])
            .env("PATH", path)
            .current_dir(sandbox.path(""))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said =
            format!("{name}: {}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        let read = |file: &str| String::from_utf8(sandbox.read(file)).unwrap();
        assert!(read("during").contains("-echo "), "{said}: {}", read("during"));
        assert_eq!(read("code"), "130\n", "{said}");
        assert!(!read("after").contains("-echo ") && read("after").contains(" echo "), "{said}: {}", read("after"));
    }
}
