//go:build clients

package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

var hidden = regexp.MustCompile(`<input type="hidden" name="(etag|request_id)" value="([^"]*)">`)

// approveAtPage approves a call that waits as a person does in a browser, who has logged in with a
// code and has seen the call.
func (h *host) approveAtPage(name string) error {
	out, err := h.run("agentd", "console", "--addr", "unix://"+h.home+"/a.sock", "-o", "json")
	if err != nil {
		return err
	}
	var printed struct{ URL, Code string }
	if err := json.Unmarshal(out, &printed); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	at := strings.TrimPrefix(printed.URL, "http://")
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) { // no resolver knows the name
		_, port, err := net.SplitHostPort(at)
		if err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
	}}
	defer transport.CloseIdleConnections()
	browser := &http.Client{Transport: transport, Jar: jar}
	send := func(method, path string, form url.Values) (string, error) {
		r, err := http.NewRequest(method, printed.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			return "", err
		}
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		resp, err := browser.Do(r)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s %s answers %s: %s", method, path, resp.Status, page)
		}
		return string(page), err
	}
	path := "/decisions/" + name
	inbox, err := send(http.MethodPost, "/login", url.Values{"code": {printed.Code}, "to": {"/"}})
	if err != nil || !strings.Contains(inbox, `href="`+path+`"`) {
		return fmt.Errorf("the inbox has no link to %s: %v: %s", path, err, inbox)
	}
	page, err := send(http.MethodGet, path, nil)
	if err != nil || !strings.Contains(page, "merlin") || !strings.Contains(page, `value="approve"`) {
		return fmt.Errorf("the page does not show the call, or nobody can approve it: %v: %s", err, page)
	}
	form := url.Values{"verdict": {"approve"}}
	for _, field := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	made, err := send(http.MethodPost, path, form)
	if err != nil || !strings.Contains(made, "approved it") {
		return fmt.Errorf("the page does not say that the call is approved: %v: %s", err, made)
	}
	return nil
}
