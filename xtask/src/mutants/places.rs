//! The places in the source where a change can be selected at run time.

use std::{collections::BTreeMap, ops::Range};

use proc_macro2::Span;
use syn::{
    Block, Expr, ExprBinary, Pat, Signature,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::changes::{Change, Kind, Lines};

/// How a change is made selectable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Before the statements of a function that begin here: it returns at once.
    Body(usize),
    /// Behind the pattern of an arm that ends here: a condition that holds while the change is not made.
    Arm(usize),
    /// In place of this expression: itself, or its text with the change. It is so large that a change of an operator in
    /// it means the same as one in the whole file, for all orders in which operators bind.
    Expression(usize, usize),
}

/// The places of those changes of a file that can be chosen. Of constants, and of code that the compiler runs, none
/// can; of conditions with a `let` beside the operator neither.
pub(super) fn places(text: &str, changes: &[Change]) -> Result<BTreeMap<usize, Place>, String> {
    let file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let mut wanted = BTreeMap::<_, Vec<usize>>::new();
    for (index, change) in changes.iter().enumerate() {
        wanted.entry((change.kind, change.range.start)).or_default().push(index);
    }
    let mut finder = Finder { lines: Lines::of(text), wanted, found: BTreeMap::new(), chain: None, constants: 0 };
    finder.visit_file(&file);
    Ok(finder.found)
}

struct Finder<'a> {
    lines: Lines<'a>,
    wanted: BTreeMap<(Kind, usize), Vec<usize>>,
    found: BTreeMap<usize, Place>,
    /// The expression of operators that what is visited belongs to.
    chain: Option<Place>,
    /// The depth of nested code that the compiler evaluates.
    constants: usize,
}

impl Finder<'_> {
    fn range(&self, span: Span) -> Range<usize> {
        let [start, end] = [span.start(), span.end()].map(|at| self.lines.byte(at.line, at.column));
        start..end
    }

    fn expression(&self, span: Span) -> Place {
        let range = self.range(span);
        Place::Expression(range.start, range.end)
    }

    fn found(&mut self, kind: Kind, start: Span, place: &Place) {
        if self.constants == 0 {
            let start = self.range(start).start;
            for index in self.wanted.get(&(kind, start)).into_iter().flatten() {
                self.found.insert(*index, place.clone());
            }
        }
    }

    fn constant(&mut self, is: bool, visit: impl FnOnce(&mut Self)) {
        self.constants += usize::from(is);
        visit(self);
        self.constants -= usize::from(is);
    }

    fn body(&mut self, signature: &Signature, block: &Block) {
        // One type stands behind `impl`, and what it would return at once has another.
        let mut opaque = Opaque(false);
        opaque.visit_return_type(&signature.output);
        if let Some(first) = block.stmts.first().filter(|_| !opaque.0) {
            let at = self.range(first.span()).start;
            self.found(Kind::Body, first.span(), &Place::Body(at));
        }
    }

    fn operators(&mut self, of: &ExprBinary) {
        let outside = self.chain.take();
        let chain = (!has_let(of)).then(|| outside.clone().unwrap_or_else(|| self.expression(of.span())));
        if let Some(chain) = &chain {
            self.found(Kind::Binary, of.op.span(), chain);
        }
        for side in [&of.left, &of.right] {
            self.chain = chain.clone();
            self.visit_expr(side);
        }
        self.chain = outside;
    }
}

/// Whether a type has an `impl` in it.
struct Opaque(bool);

impl<'ast> Visit<'ast> for Opaque {
    fn visit_type_impl_trait(&mut self, _: &'ast syn::TypeImplTrait) {
        self.0 = true;
    }
}

/// Whether a `let` is one of the operands: the language allows it only beside `&&`, and nothing around it.
fn has_let(of: &ExprBinary) -> bool {
    [&of.left, &of.right].into_iter().any(|side| match &**side {
        Expr::Let(_) => true,
        Expr::Binary(side) => has_let(side),
        _ => false,
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr(&mut self, of: &'ast Expr) {
        if let Expr::Binary(of) = of {
            return self.operators(of);
        }
        let chain = self.chain.take();
        match of {
            Expr::Unary(unary) => {
                let place = self.expression(of.span());
                self.found(Kind::Unary, unary.op.span(), &place);
            }
            Expr::Struct(of) => {
                let place = self.expression(of.span());
                for field in &of.fields {
                    self.found(Kind::Field, field.span(), &place);
                }
            }
            _ => {}
        }
        visit::visit_expr(self, of);
        self.chain = chain;
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        match &arm.guard {
            Some((_, guard)) if matches!(&**guard, Expr::Let(_)) => {}
            Some((_, guard)) if matches!(&**guard, Expr::Binary(of) if has_let(of)) => {}
            Some((_, guard)) => self.found(Kind::Guard, guard.span(), &self.expression(guard.span())),
            None if matches!(arm.pat, Pat::Wild(_)) => {}
            None => {
                let place = Place::Arm(self.range(arm.pat.span()).end);
                self.found(Kind::Arm, arm.span(), &place);
            }
        }
        visit::visit_arm(self, arm);
    }

    fn visit_item_fn(&mut self, of: &'ast syn::ItemFn) {
        self.constant(of.sig.constness.is_some(), |finder| {
            finder.body(&of.sig, &of.block);
            visit::visit_item_fn(finder, of);
        });
    }

    fn visit_impl_item_fn(&mut self, of: &'ast syn::ImplItemFn) {
        self.constant(of.sig.constness.is_some(), |finder| {
            finder.body(&of.sig, &of.block);
            visit::visit_impl_item_fn(finder, of);
        });
    }

    fn visit_trait_item_fn(&mut self, of: &'ast syn::TraitItemFn) {
        self.constant(of.sig.constness.is_some(), |finder| {
            of.default.iter().for_each(|block| finder.body(&of.sig, block));
            visit::visit_trait_item_fn(finder, of);
        });
    }

    fn visit_item_const(&mut self, of: &'ast syn::ItemConst) {
        self.constant(true, |finder| visit::visit_item_const(finder, of));
    }

    fn visit_impl_item_const(&mut self, of: &'ast syn::ImplItemConst) {
        self.constant(true, |finder| visit::visit_impl_item_const(finder, of));
    }

    fn visit_trait_item_const(&mut self, of: &'ast syn::TraitItemConst) {
        self.constant(true, |finder| visit::visit_trait_item_const(finder, of));
    }

    fn visit_item_static(&mut self, of: &'ast syn::ItemStatic) {
        self.constant(true, |finder| visit::visit_item_static(finder, of));
    }

    fn visit_expr_const(&mut self, of: &'ast syn::ExprConst) {
        self.constant(true, |finder| visit::visit_expr_const(finder, of));
    }

    fn visit_expr_repeat(&mut self, of: &'ast syn::ExprRepeat) {
        self.visit_expr(&of.expr);
        self.constant(true, |finder| finder.visit_expr(&of.len));
    }

    fn visit_type(&mut self, of: &'ast syn::Type) {
        self.constant(true, |finder| visit::visit_type(finder, of));
    }

    fn visit_generic_argument(&mut self, of: &'ast syn::GenericArgument) {
        self.constant(true, |finder| visit::visit_generic_argument(finder, of));
    }

    fn visit_variant(&mut self, of: &'ast syn::Variant) {
        self.constant(true, |finder| visit::visit_variant(finder, of));
    }
}
