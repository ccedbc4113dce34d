//! The totals of lists are folded before a page has many of them to sum.

use launchway_domain::actor::Actor;
use launchway_domain::configuration::Configuration;
use launchway_ops::list_totals::fold;
use launchway_ops::write::Write;

use crate::stage::runners::new_build;
use crate::support::TestApp;

const REASON: &str = "a test reads the totals";

#[tokio::test]
async fn the_totals_of_a_busy_list_are_folded() {
    let app = TestApp::start().await;
    let (org, key) = app.org_with_key().await;
    let mut write = Write::open(&app.app, org, Actor::Operator, None).await.unwrap();
    let (now, random) = (write.now(), write.app().random.clone());
    let builds = [(); 2].map(|()| new_build(random.id(now), org, now));
    for build in &builds {
        let bundle = build.bundle_id.parse().unwrap();
        write.org().create_build(build, &bundle).await.unwrap();
    }
    // Each change is one row less and one row more.
    let beta: Configuration = "beta".parse().unwrap();
    for number in 0..500 {
        let configuration = (number % 2 == 0).then_some(&beta);
        write.org().set_build_configuration(builds[0].id, configuration).await.unwrap();
    }
    write.org().set_build_configuration(builds[0].id, Some(&beta)).await.unwrap();
    write.commit().await.unwrap();

    let unfolded = async || app.app.db.read().await.unwrap().system(REASON).unfolded_lists(9).await.unwrap().len();
    let totals = async || {
        let mut found = Vec::new();
        for filter in ["", "&configuration=beta", "&configuration=gamma"] {
            let page = app.get(&key, &format!("/build?limit=1{filter}")).await.ok();
            found.push(page["total"].as_i64().unwrap());
        }
        found
    };
    assert_eq!((unfolded().await, totals().await), (2, vec![2, 1, 0]), "by branch and without");
    fold(&app.app.db).await.unwrap();
    assert_eq!((unfolded().await, totals().await), (0, vec![2, 1, 0]));
}
