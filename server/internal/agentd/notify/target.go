package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/sdk/egress"
)

const (
	// sendTime is how long one attempt may take, with everything that the target does.
	sendTime = 10 * time.Second
	// maxAnswer is how many bytes of an answer are read. What is behind them is not waited for.
	maxAnswer = 64 << 10
)

// Target is a place to which messages go. Send returns when the target has accepted the message; it
// must end soon after ctx. It may be called concurrently.
type Target interface {
	Send(ctx context.Context, c *Content) error
}

// later is the error of a target that says when it wants to be asked again.
type later struct {
	error
	after time.Duration
}

// HTTP is where and how a target over HTTP is reached.
type HTTP struct {
	URL string
	// Private permits private addresses and those of this host. Link-local addresses, where clouds
	// have their metadata services, are never permitted.
	Private bool
}

// own and private are the addresses that HTTP.Private permits. Without TLS, only own are.
var own, private = []string{"127.0.0.0/8", "::1"}, []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"}

// post is a target over HTTP in one of the forms.
type post struct {
	to        string
	transport http.RoundTripper
	request   func(c *Content) (body []byte, header http.Header)
}

// newPost returns a target. Without TLS, it only reaches this host.
func (h HTTP) newPost(to string, request func(*Content) ([]byte, http.Header)) *post {
	rules := egress.Rules{GrantedOnly: strings.HasPrefix(h.URL, "http:")}
	if h.Private {
		granted := own
		if !rules.GrantedOnly {
			granted = append(own[:len(own):len(own)], private...)
		}
		rules.Allow, _ = egress.ParseGrants(granted) // they are constants
	}
	return &post{to: to, transport: egress.Config{Rules: rules, MaxConnections: 2}.Transport(), request: request}
}

// Send implements Target. It follows no redirect: a transport does not.
func (p *post) Send(ctx context.Context, c *Content) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	body, header := p.request(c)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.to, bytes.NewReader(body))
	if err != nil {
		return errors.New("the URL cannot be requested") // the error has the URL, which may be secret
	}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "agentd")
	request.Header = header
	response, err := p.transport.RoundTrip(request)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("it did not answer within %s", sendTime)
	case err != nil:
		if refused, ok := errors.AsType[*egress.Refusal](err); ok {
			return fmt.Errorf("its address is not permitted: %w; if it is the right one, use https, or set allow_private", refused)
		}
		return err
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // the status decides
	switch code := response.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code >= 300 && code < 400:
		return fmt.Errorf("it answered %d, and agentd follows no redirect; write the URL that it leads to", code)
	default:
		err := fmt.Errorf("it answered %d: %s", code, clean(strings.TrimSpace(withoutSecrets(string(answer), request)), maxArguments))
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return &later{err, time.Duration(min(max(seconds, 0), 3600)) * time.Second}
	}
}

// withoutSecrets returns an answer for the log. Servers repeat the path of a request that they do
// not know, and the URL or the token may be a secret. Shorter words are none.
func withoutSecrets(answer string, r *http.Request) string {
	for _, word := range strings.FieldsFunc(r.URL.RequestURI()+" "+r.Header.Get("Authorization"), func(c rune) bool { return strings.ContainsRune("/?&= ", c) }) {
		if len(word) >= 8 {
			answer = strings.ReplaceAll(answer, word, "…")
		}
	}
	return answer
}

// CloseIdleConnections closes the connections that wait for the next message.
func (p *post) CloseIdleConnections() {
	if t, ok := p.transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// Unwrap returns the error without the time.
func (l *later) Unwrap() error { return l.error }

// ParseKey returns the key of webhooks that a text has: whsec_ and 24 to 64 bytes in base64.
func ParseKey(text string) ([]byte, error) {
	encoded, found := strings.CutPrefix(text, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("a key is whsec_ with the base64 of 24 to 64 random bytes, as in: echo whsec_$(openssl rand -base64 32)")
	}
	return key, nil
}

// Webhook returns a target that gets messages as JSON, signed with each of the keys as Standard
// Webhooks says.
func Webhook(h HTTP, keys [][]byte) Target {
	return h.newPost(h.URL, func(c *Content) ([]byte, http.Header) {
		body := c.JSON()
		at := strconv.FormatInt(time.Now().Unix(), 10)
		return body, http.Header{"Webhook-Id": {c.ID}, "Webhook-Timestamp": {at}, "Webhook-Signature": {signatures(keys, c.ID, at, body)}}
	})
}

func signatures(keys [][]byte, id, at string, body []byte) string {
	list := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
		list[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(list, " ")
}

// Slack returns a target in the form of Slack's incoming webhooks, which Mattermost, Discord,
// Rocket.Chat and others take too.
func Slack(h HTTP) Target {
	return h.newPost(h.URL, func(c *Content) ([]byte, http.Header) {
		text := fmt.Sprintf("*%s*\n%s%s", c.Title(), c.text(code), cmp.Or(c.Link, code(c.Command)))
		body, _ := json.Marshal(struct {
			Text   string `json:"text"`
			Unfurl bool   `json:"unfurl_links"`
			Media  bool   `json:"unfurl_media"`
		}{Text: text})
		return body, http.Header{}
	})
}

// code returns a text as code, in which programs look for no marks, and in which Slack finds none
// of its own: it reads <!channel> also there.
func code(text string) string {
	return "`" + strings.NewReplacer("`", "'", "&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text) + "`"
}

// Ntfy returns a target that publishes to the topic at the end of a URL, as JSON, because a header
// holds only ASCII. token may be empty.
func Ntfy(h HTTP, token string) Target {
	server, topic := h.URL, ""
	if u, err := url.Parse(h.URL); err == nil {
		topic = path.Base(u.Path)
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, topic), ""
		server = u.String()
	}
	return h.newPost(server, func(c *Content) ([]byte, http.Header) {
		priority := 4
		if c.Kind == Finished {
			priority = 3
		}
		body, _ := json.Marshal(struct {
			Topic    string `json:"topic"`
			Title    string `json:"title"`
			Message  string `json:"message"`
			Priority int    `json:"priority"`
			Click    string `json:"click,omitempty"`
		}{topic, c.Title(), c.Text(), priority, c.Link})
		header := http.Header{}
		if token != "" {
			header.Set("Authorization", "Bearer "+token)
		}
		return body, header
	})
}
