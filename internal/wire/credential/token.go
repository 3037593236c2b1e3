package credential

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"
)

// maxTokenBytes is the maximum length of a token. Servers bound the headers of an RPC, and a longer
// text is a wrong file.
const maxTokenBytes = 16 << 10

// Token is a bearer token. All ways to print a Token hide its value. Tokens are comparable.
type Token struct {
	Value   string
	Expires time.Time // zero: unknown, so the token is used until a server refuses it
}

const hiddenToken = "[token]"

// Format implements fmt.Formatter.
func (Token) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hiddenToken)) }

// String returns a placeholder.
func (Token) String() string { return hiddenToken }

// LogValue implements slog.LogValuer.
func (Token) LogValue() slog.Value { return slog.StringValue(hiddenToken) }

// MarshalText implements encoding.TextMarshaler.
func (Token) MarshalText() ([]byte, error) { return []byte(hiddenToken), nil }

// checked returns the token without white space around its value. It reads the expiry of a JWT
// unless the token has one. The errors do not contain the token.
func (t Token) checked() (Token, error) {
	t.Value = strings.TrimSpace(t.Value)
	switch {
	case t.Value == "":
		return Token{}, errors.New("the token is empty")
	case len(t.Value) > maxTokenBytes:
		return Token{}, fmt.Errorf("the token has %d bytes, and the limit is %d", len(t.Value), maxTokenBytes)
	case strings.ContainsFunc(t.Value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Token{}, errors.New("the token holds a character that a header cannot carry: a space, a line break, or a character outside of ASCII")
	}
	if t.Expires.IsZero() {
		t.Expires = expiryOf(t.Value)
	}
	return t, nil
}

// expiryOf returns the expiry of a JWT, or the zero time for any other token. The client does not
// verify the JWT: a server does, and a wrong expiry only changes when the client renews the token.
func expiryOf(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if json.Unmarshal(text, &claims) != nil || !(claims.Expires > 0 && claims.Expires < math.MaxInt32*64) {
		return time.Time{}
	}
	return time.Unix(int64(claims.Expires), 0)
}

// parse reads the output of a command or the content of a file: a token alone, or a JSON object
// with the members `token` and `expires`, an RFC 3339 time.
func parse(text []byte) (Token, error) {
	if trimmed := strings.TrimSpace(string(text)); !strings.HasPrefix(trimmed, "{") {
		return Token{Value: trimmed}.checked()
	}
	var object struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires"`
	}
	if json.Unmarshal(text, &object) != nil { // the error of the decoder may quote the token
		return Token{}, errors.New(`the text is neither a token nor a JSON object such as {"token": "…", "expires": "2027-01-31T12:00:00Z"}`)
	}
	return Token{Value: object.Token, Expires: object.Expires}.checked()
}
