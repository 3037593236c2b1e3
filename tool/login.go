package tool

import "time"

// Login is what a principal may know about its login at an MCP server behind a toolhost.
type Login struct {
	Plugin string `json:"plugin"`
	URL    string `json:"url"` // of the server
	// Grant is how toolhost gets tokens: authorization_code if a person logs in, or
	// client_credentials if the operator has configured a client that needs no person.
	Grant    string   `json:"grant"`
	LoggedIn bool     `json:"logged_in"`
	Issuer   string   `json:"issuer,omitempty"` // the authorization server; empty: there is no login
	Scopes   []string `json:"scopes,omitempty"` // granted; empty: not known
	// MissingScopes are the scopes that a call lacked. The next login asks for them.
	MissingScopes []string  `json:"missing_scopes,omitempty"`
	Created       time.Time `json:"create_time,omitzero"` // zero: there is no login
	Expires       time.Time `json:"expire_time,omitzero"` // of the access token; zero: not known
	Renews        bool      `json:"renews"`               // toolhost renews the login without the person
	Problem       string    `json:"problem,omitempty"`    // why the login cannot be used; empty: it can be
}

// LoginStart is a login in progress. A person continues it with a browser, or on another device.
type LoginStart struct {
	ID      string    // the id that FinishLogin needs
	Plugin  string    // the plugin of the MCP server
	URL     string    // the URL of the MCP server
	Issuer  string    // the authorization server; the person should check that it is the right one
	Scopes  []string  // the scopes that the person grants; empty: the authorization server chooses them
	Expires time.Time // the time after which the login cannot be finished
	// BrowserURL is the page of the authorization server. The answer of that page must have State as
	// its parameter state. Both are empty for a login on another device.
	BrowserURL, State string
	// UserCode is what the person enters at VerifyURL on another device. Both are empty for a login
	// with the browser. VerifyURLComplete is VerifyURL with the code in it, and may be empty.
	UserCode, VerifyURL, VerifyURLComplete string
}

// LoginAnswer has the parameters with which a browser came back to the redirect URI. It is zero for
// a login on another device.
type LoginAnswer struct {
	Code, State, Issuer     string // Issuer is the parameter iss
	Error, ErrorDescription string // of the authorization server, which chooses their text
}

// Logout is the end of a login.
type Logout struct {
	WasLoggedIn bool
	// RevocationProblem is why the tokens may still be valid elsewhere. Empty: they were revoked, or
	// there were none.
	RevocationProblem string
}
