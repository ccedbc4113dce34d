//! The API over real HTTP, one file per URL resource; the clock is a parameter.
#![cfg(test)]

#[macro_use]
mod support;

mod api_keys;
mod apps;
mod audit;
mod auth;
mod backup;
mod build;
mod capgo;
mod check_config;
mod codepush;
mod connections;
mod crash_reports;
mod credentials;
mod dashboard;
mod device_logins;
mod doctor;
mod env;
mod expo;
mod fingerprints;
mod foreign_stage;
mod foreign_updates;
mod fuzz_query;
mod hot_updater;
mod idempotency;
mod inspection;
mod install;
mod jobs;
mod limits;
mod matrix;
mod metrics;
mod names;
mod npm_client;
mod openapi;
mod orgs;
mod pages;
mod reference;
mod releases;
mod runner;
mod runners;
mod settings;
mod signed_updates;
mod stage;
mod statements;
mod streams;
mod submit;
mod trust;
mod tuf;
mod update;
mod update_check;
mod update_report;
mod uploads;
mod usage;
mod webhooks;
