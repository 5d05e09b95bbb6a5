//! Access tokens of the service.

words! {
    /// What the holder of a token may do; each scope includes the ones before it.
    TokenScope, "scope" {
        /// Read records.
        Read => "read",
        /// Add and change records.
        Write => "write",
        /// Delete records and grant rights to others.
        Admin => "admin",
    }
}

words! {
    /// How often a token can be used.
    TokenKind, "token kind" {
        /// For any number of requests.
        Bearer => "bearer",
        /// For one login, which gives the browser a token of its own.
        Login => "login",
    }
}
