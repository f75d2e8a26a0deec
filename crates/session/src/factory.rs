//! Makes a table of the scheme that a [`Plan`] selects.

use crate::{
    error::SessionError,
    material::Secret,
    record::{Keys16, Keys32, On16, On32, Pre16, Pre32},
    scheme::Scheme,
    schemes::{Clear, Derived, Gscm, On64, Paper},
    sessions::{Plan, Sessions},
    spec::SchemeKind,
    table::Table,
};

/// Makes a table.
///
/// ```
/// use sealwright_session::{Material, Plan, table};
///
/// let mut relay = table(Plan::new("gcm-on64".parse()?, 1_000_000))?;
/// relay.admit(7, 7, &Material::random()?)?;
/// assert_eq!((relay.live(), relay.memory().record), (1, 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SessionError::NoMemory`] or [`SessionError::NoRandomness`].
pub fn table(plan: Plan) -> Result<Box<dyn Sessions>, SessionError> {
    fn boxed<S: Scheme + 'static>(scheme: S, plan: Plan) -> Result<Box<dyn Sessions>, SessionError> {
        Ok(Box::new(Table::new(scheme, plan)?))
    }
    let plan = Plan { spec: plan.spec.of_all(), ..plan };
    let Plan { spec, slots, side, isa, .. } = plan;
    match (spec.kind, spec.long) {
        (SchemeKind::Clear, _) => boxed(Clear { isa }, plan),
        (SchemeKind::GcmPre(x), false) => boxed(Paper::<Pre16>::new(isa, spec, x, slots), plan),
        (SchemeKind::GcmPre(x), true) => boxed(Paper::<Pre32>::new(isa, spec, x, slots), plan),
        (SchemeKind::GcmOn(x), false) => boxed(Paper::<On16>::new(isa, spec, x, slots), plan),
        (SchemeKind::GcmOn(x), true) => boxed(Paper::<On32>::new(isa, spec, x, slots), plan),
        (SchemeKind::GcmOn64, false) => boxed(On64::<Keys16>::new(isa, spec), plan),
        (SchemeKind::GcmOn64, true) => boxed(On64::<Keys32>::new(isa, spec), plan),
        (SchemeKind::GcmDerived, _) => {
            let secret = plan.secret.clone().map_or_else(Secret::random, Ok)?;
            boxed(Derived::new(isa, spec, side, &secret), plan)
        }
        #[cfg(feature = "research")]
        (SchemeKind::Gscm(x), _) => boxed(Gscm::new(&plan, Some(x)), plan),
        (SchemeKind::GscmH, _) => boxed(Gscm::new(&plan, None), plan),
    }
}
