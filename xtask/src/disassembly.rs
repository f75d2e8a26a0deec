//! Disassembled code, as `objdump --disassemble --no-show-raw-insn` prints it.

/// A function: its name, and the address and text of each instruction.
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) body: Vec<(u64, &'a str)>,
}

/// The functions in the order of the text.
pub(crate) fn functions(code: &str) -> Vec<Function<'_>> {
    let mut functions = Vec::new();
    for line in code.lines() {
        if let Some(head) = line.strip_suffix(">:") {
            let name = head.split_once('<').map_or("", |(_, name)| name);
            functions.push(Function { name, body: Vec::new() });
        } else if let Some((address, instruction)) = line.trim_start().split_once(":\t")
            && let Ok(address) = u64::from_str_radix(address, 16)
            && let Some(function) = functions.last_mut()
        {
            function.body.push((address, instruction));
        }
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_their_instructions() {
        let code = "program:  file format\n\n0000000000000010 <a::b<c>>:\n  10:\tmov    %rdx,%rcx\n  1c:\tret\n\n0000000000000020 <d>:\n";
        let functions = functions(code);
        assert_eq!(functions.len(), 2);
        assert_eq!(
            (functions[0].name, functions[0].body.as_slice()),
            ("a::b<c>", &[(0x10, "mov    %rdx,%rcx"), (0x1c, "ret")][..])
        );
        assert_eq!((functions[1].name, functions[1].body.len()), ("d", 0));
    }
}
