package mcpauth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/oauth2"

	"github.com/toolhost/toolhost/tool"
)

// LoginError says that a principal has to log in before a server serves it.
type LoginError struct {
	Plugin    string
	Principal string   // the key; empty: the login with which toolhost reads the tools
	Reason    string   // why the present login, if any, is not enough
	Scopes    []string // the scopes that are missing; empty: not known
}

// noLogin is the Reason of a principal that has not logged in.
const noLogin = "there is no login"

// Error implements error.
func (e *LoginError) Error() string {
	reason := e.Reason
	if len(e.Scopes) > 0 {
		reason += ": " + strings.Join(e.Scopes, " ")
	}
	switch {
	case e.Principal == "":
		return fmt.Sprintf("toolhost cannot read the tools of the MCP server %q (%s); an operator has to run: %s", e.Plugin, reason, LoginCommand(e.Plugin))
	case e.Reason == noLogin:
		return fmt.Sprintf("%s is not logged in to the MCP server %q; run: %s", e.Principal, e.Plugin, LoginCommand(e.Plugin))
	}
	return fmt.Sprintf("%s has to log in to the MCP server %q again (%s); run: %s", e.Principal, e.Plugin, reason, LoginCommand(e.Plugin))
}

// LoginCommand returns the command that logs a person in to the server of a plugin. The text of a
// LoginError ends with it.
func LoginCommand(plugin string) string { return "toolhost mcp login " + plugin }

// ErrUnknownLogin says that no login with this id has begun, that it is over, or that another
// principal began it.
var ErrUnknownLogin = errors.New("no such login is in progress; begin again with: toolhost mcp login NAME")

const (
	maxForeign = 200  // bytes of foreign text in a message
	maxScopes  = 64   // of one login
	maxText    = 2048 // bytes of a URL, a client id or a scope
	maxToken   = 16 << 10
)

// Foreign returns a text of a foreign server for a message: one line, bounded, and without control
// characters.
func Foreign(text string) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() >= maxForeign {
			b.WriteString("…")
			break
		}
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// tokenError returns an error of a token endpoint without the text of the answer, which could
// contain a token or what the request contained.
func tokenError(err error) error {
	if err == nil {
		return nil
	}
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return answered(answer)
	}
	return webError(err)
}

// answered returns the error that an authorization server reported.
func answered(answer *oauth2.RetrieveError) error {
	e := &serverError{Code: Foreign(answer.ErrorCode), Description: Foreign(answer.ErrorDescription)}
	if answer.Response != nil {
		e.Status = answer.Response.StatusCode
	}
	return e
}

// serverError is the answer of an authorization server that refuses a request.
type serverError struct {
	Code, Description string // foreign text, cleaned
	Status            int    // of HTTP; 0: it came with a redirect
}

// Error implements error.
func (e *serverError) Error() string {
	text := "the authorization server refused"
	switch {
	case e.Code != "":
		text += ": " + e.Code
	case e.Status != 0:
		text += fmt.Sprintf(" with status %d", e.Status)
	}
	if e.Description != "" {
		text += fmt.Sprintf(" (%s)", e.Description)
	}
	return text
}

// refused reports whether err is the answer of an authorization server with one of the codes.
func refused(err error, codes ...string) bool {
	answer, ok := errors.AsType[*serverError](err)
	if !ok {
		return false
	}
	for _, code := range codes {
		if answer.Code == code {
			return true
		}
	}
	return false
}

// typed returns an error of a login as a *tool.Error.
func typed(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	_, answered := errors.AsType[*serverError](err)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return tool.AsError(err)
	case errors.Is(err, ErrUnknownLogin):
		return tool.Errorf(tool.KindNotFound, "%w", err)
	case answered:
		return tool.Errorf(tool.KindDenied, "%w", err)
	}
	return tool.Errorf(tool.KindUnavailable, "%w", err)
}
