//! `http`: what the HTTP interface offers.

use anyhow::Context;
use serde::Deserialize;

use super::allowed_hosts::AllowedHosts;
use super::cors_origins::CorsOrigins;
use super::variables::Variables;

/// What the HTTP interface offers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    /// Origins of web pages that may send requests.
    pub cors_origins: CorsOrigins,
    /// Further names by which clients may address the server.
    pub allowed_hosts: AllowedHosts,
}

impl HttpSettings {
    pub(super) fn apply_variables(&mut self, variables: &Variables<'_>) -> anyhow::Result<()> {
        const CORS_ORIGINS: &str = "HIERAD_CORS_ORIGINS";
        if let Some(origins) = variables.text(CORS_ORIGINS) {
            self.cors_origins = CorsOrigins::try_from(origins.as_str()).context(CORS_ORIGINS)?;
        }
        const ALLOWED_HOSTS: &str = "HIERAD_ALLOWED_HOSTS";
        if let Some(hosts) = variables.text(ALLOWED_HOSTS) {
            self.allowed_hosts = AllowedHosts::try_from(hosts.as_str()).context(ALLOWED_HOSTS)?;
        }
        Ok(())
    }
}
