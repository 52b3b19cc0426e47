//! Where the mutants of a file belong.

use proc_macro2::{LineColumn, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, BinOp, Block, Expr, ExprBinary, ExprMatch, ExprStruct, ExprUnary, Pat, Signature};

use crate::edits::Edits;
use crate::{Mutant, Point};

/// The text with a switch for each mutant whose place is found, and their numbers.
pub(crate) fn place(text: &str, mutants: &[Mutant]) -> syn::Result<(String, Vec<u32>)> {
    let file = syn::parse_file(text)?;
    let mut places = Places { mutants, placed: Vec::new(), edits: Edits::new(text) };
    places.visit_file(&file);
    Ok((places.edits.finish(), places.placed))
}

struct Places<'a> {
    mutants: &'a [Mutant],
    placed: Vec<u32>,
    edits: Edits<'a>,
}

fn on(mutant: &Mutant) -> String {
    format!("crate::mutant::on({})", mutant.number)
}

fn point(place: LineColumn) -> Point {
    Point { line: place.line, column: place.column + 1 }
}

/// Whether it is a condition that binds names, which stands nowhere but in `if` and `while`.
fn binds(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(ExprBinary { left, op: BinOp::And(_), right, .. }) => {
            binds(left) || binds(right)
        }
        _ => false,
    }
}

impl<'a> Places<'a> {
    fn starting(&self, genre: &str, place: LineColumn) -> Vec<&'a Mutant> {
        let at = |each: &&Mutant| each.genre == genre && each.span.start == point(place);
        self.mutants.iter().filter(at).collect()
    }

    fn instead(&mut self, mutant: &Mutant, of: &impl Spanned, other: &TokenStream) {
        let before = format!("(if {} {{ {other} }} else {{ ", on(mutant));
        self.edits.around(of.span(), before, " })");
        self.placed.push(mutant.number);
    }

    fn arm(&mut self, mutant: &Mutant, arm: &Arm) {
        match &arm.guard {
            Some((_, guard)) => {
                self.edits.around(guard.span(), format!("!{} && (", on(mutant)), ")");
            }
            None => self.edits.after(arm.pat.span().end(), format!(" if !{}", on(mutant))),
        }
        self.placed.push(mutant.number);
    }

    /// What a function does: its mutants, and that it can be called where constants are computed
    /// only if it has none.
    fn function(&mut self, signature: &Signature, block: &Block) {
        let before = self.placed.len();
        if let [first, .., last] | [first @ last] = &block.stmts[..] {
            let end = point(last.span().end());
            let start = first.span().start();
            for mutant in self.starting("FnValue", start) {
                if mutant.span.end == end {
                    let text = format!("if {} {{ return {} }} ", on(mutant), mutant.replacement);
                    self.edits.before(start, text);
                    self.placed.push(mutant.number);
                }
            }
        }
        visit::visit_block(self, block);
        if let (Some(word), true) = (&signature.constness, self.placed.len() > before) {
            self.edits.remove(word.span());
        }
    }
}

impl<'a> Visit<'a> for Places<'_> {
    fn visit_item_fn(&mut self, it: &'a syn::ItemFn) {
        self.function(&it.sig, &it.block);
    }

    fn visit_impl_item_fn(&mut self, it: &'a syn::ImplItemFn) {
        self.function(&it.sig, &it.block);
    }

    fn visit_trait_item_fn(&mut self, it: &'a syn::TraitItemFn) {
        if let Some(block) = &it.default {
            self.function(&it.sig, block);
        }
    }

    fn visit_expr_binary(&mut self, it: &'a ExprBinary) {
        let ExprBinary { left, op, right, .. } = it;
        if !binds(left) && !binds(right) {
            for mutant in self.starting("BinaryOperator", op.span().start()) {
                if let Ok(op) = syn::parse_str::<BinOp>(&mutant.replacement) {
                    self.instead(mutant, it, &quote!((#left) #op (#right)));
                }
            }
        }
        visit::visit_expr_binary(self, it);
    }

    fn visit_expr_unary(&mut self, it: &'a ExprUnary) {
        for mutant in self.starting("UnaryOperator", it.op.span().start()) {
            self.instead(mutant, it, &it.expr.to_token_stream());
        }
        visit::visit_expr_unary(self, it);
    }

    fn visit_expr_match(&mut self, it: &'a ExprMatch) {
        // Without an arm that has no guard, others would not cover all that comes.
        let all = |arm: &Arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none();
        let covered = it.arms.iter().any(all);
        for arm in it.arms.iter().filter(|arm| covered || arm.guard.is_some()) {
            for mutant in self.starting("MatchArm", arm.span().start()) {
                self.arm(mutant, arm);
            }
        }
        visit::visit_expr_match(self, it);
    }

    fn visit_arm(&mut self, it: &'a Arm) {
        if let Some((_, guard)) = &it.guard {
            for mutant in self.starting("MatchArmGuard", guard.span().start()) {
                if let Ok(other) = mutant.replacement.parse() {
                    self.instead(mutant, guard, &other);
                }
            }
        }
        visit::visit_arm(self, it);
    }

    fn visit_expr_struct(&mut self, it: &'a ExprStruct) {
        for field in &it.fields {
            for mutant in self.starting("StructField", field.span().start()) {
                let mut other = it.clone();
                let left =
                    it.fields.iter().filter(|each| each.span().start() != field.span().start());
                other.fields = left.cloned().collect();
                if it.dot2_token.is_some() && !other.fields.empty_or_trailing() {
                    other.fields.push_punct(Default::default());
                }
                self.instead(mutant, it, &other.to_token_stream());
            }
        }
        visit::visit_expr_struct(self, it);
    }
}
