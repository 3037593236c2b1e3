package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/toolhost/toolhost/sdk"
)

// The formats of a returned body.
const (
	formatAuto     = "auto"
	formatMarkdown = "markdown"
	formatText     = "text"
	formatRaw      = "raw"
	formatJSON     = "json"
)

// result returns the tool's result: a block that describes the response, and then the body.
func (a *answer) result(format string) (sdk.Result, error) {
	body, title, err := a.content(format)
	if err != nil {
		return sdk.Result{}, err
	}
	result := sdk.Result{Content: []sdk.Content{sdk.Text(a.summary(title))}, IsError: a.StatusCode >= 400}
	result.Content = append(result.Content, body...)
	if a.truncated && a.Request.Method != http.MethodHead {
		result.Content = append(result.Content, sdk.Text("["+a.missing()+"]"))
	}
	return result, nil
}

// missing says why the body is not whole, and what helps.
func (a *answer) missing() string {
	again := a.Request.Method == http.MethodGet
	if a.broken != nil {
		of := ""
		if a.ContentLength > 0 {
			of = fmt.Sprintf(" of %d", a.ContentLength)
		}
		text := fmt.Sprintf("The answer broke off after %d%s bytes (%s). The rest is missing.", len(a.body), of, why(a.broken))
		if again {
			text += " Fetching it once more may give the whole."
		}
		return text
	}
	text := fmt.Sprintf("Only the first %d bytes were read; there is more.", len(a.body))
	switch {
	case len(a.body) < maxBytes:
		return text + " A larger max_bytes reads more."
	case again:
		return text + fmt.Sprintf(" max_bytes cannot be larger; the header Range: bytes=%d- reads on, if the server supports it.", len(a.body))
	default:
		return text
	}
}

// why returns the reason for which a connection ended, in a few words.
func why(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the server ended it"
	}
	return oneLine(err.Error(), 200)
}

// maxURL limits how much of a URL is shown, because a server may redirect to one of any length.
const maxURL = 2000

// shown are the headers that are useful to a model.
var shown = []string{
	"Location", "Content-Location", "Content-Disposition", "Last-Modified", "Etag", "Retry-After", "Link", "Allow", "Www-Authenticate",
	"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Ratelimit", "Ratelimit-Policy", "Deprecation", "Sunset",
}

// summary returns status, URL, type and the shown headers of the response.
func (a *answer) summary(title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", clip(oneLine(a.Status, 100), 100))
	where := *a.Request.URL
	where.User = nil
	fmt.Fprintf(&b, "url: %s", clip(where.String(), maxURL))
	if asked := a.asked; asked != where.String() {
		fmt.Fprintf(&b, " (redirected from %s)", clip(asked, maxURL))
	}
	declared := a.Header.Get("Content-Type")
	if declared == "" {
		declared = a.mediaType
	}
	switch {
	case a.Request.Method == http.MethodHead:
	case len(a.body) == 0:
		b.WriteString("\ncontent: none")
	default:
		fmt.Fprintf(&b, "\ncontent: %s, %d bytes", oneLine(declared, 100), len(a.body))
		if a.truncated {
			b.WriteString(" or more")
		}
	}
	if title != "" {
		fmt.Fprintf(&b, "\ntitle: %s", title)
	}
	names := shown
	if a.Request.Method == http.MethodHead {
		names = slices.Concat([]string{"Content-Type", "Content-Length", "Cache-Control", "Server"}, shown)
	}
	for _, name := range names {
		for _, value := range a.Header.Values(name) {
			fmt.Fprintf(&b, "\n%s: %s", strings.ToLower(name), oneLine(value, 500))
		}
	}
	return b.String()
}

// content returns the body in the requested format, and the title of a page.
func (a *answer) content(format string) (body []sdk.Content, title string, err error) {
	switch {
	case format == formatJSON:
		value, ok := a.json()
		if !ok {
			if a.truncated && a.isJSON() {
				return nil, "", fmt.Errorf("%s answered %s with JSON that is not whole. %s", a.Request.URL.Host, a.Status, a.missing())
			}
			return nil, "", fmt.Errorf("%s answered %s with no JSON but %s, which begins so: %s", a.Request.URL.Host, a.Status, a.mediaType, oneLine(a.text(), 300))
		}
		return []sdk.Content{value}, "", nil
	case len(a.body) == 0:
		return nil, "", nil
	case a.isText():
		return a.textContent(format)
	case a.truncated:
		return []sdk.Content{sdk.Text("[This is no text and not whole, so that nothing of it is shown.]")}, "", nil
	case slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, a.mediaType):
		return []sdk.Content{sdk.Image(a.mediaType, a.body)}, "", nil
	}
	return []sdk.Content{sdk.File(a.name(), a.mediaType, a.body)}, "", nil
}

func (a *answer) textContent(format string) (body []sdk.Content, title string, err error) {
	text := a.text()
	switch {
	case format == formatRaw:
	case a.isHTML():
		return a.pageContent(format, text)
	case a.isJSON() && format == formatAuto:
		if value, ok := a.json(); ok {
			return []sdk.Content{value}, "", nil
		}
	}
	return []sdk.Content{sdk.Text(text)}, "", nil
}

func (a *answer) pageContent(format, text string) (body []sdk.Content, title string, err error) {
	page, err := parse(text)
	if err == nil && format != formatText {
		converted, failed := page.markdown(a.Request.URL)
		if failed == nil {
			return page.texts(converted, a.Request.URL), page.title, nil
		}
		err = failed
	}
	var about hints
	if page != nil {
		about = page.hints
	}
	title = about.title
	body = about.texts(plain(text), a.Request.URL)
	if errors.Is(err, errMarkup) && format != formatText {
		body = append(body, sdk.Text("[This is the page's text alone: "+errMarkup.Error()+" to Markdown.]"))
	}
	return body, title, nil
}

// json returns the body as a JSON block if it is one complete JSON value.
func (a *answer) json() (sdk.Content, bool) {
	text := bytes.TrimSpace([]byte(a.text()))
	if a.truncated || !json.Valid(text) {
		return sdk.Content{}, false
	}
	return sdk.JSON(text), true
}

// oneLine returns text as one line with at most the given number of characters.
func oneLine(text string, most int) string {
	// A page's title may have megabytes.
	text = strings.ToValidUTF8(text[:min(len(text), 8*most)], "")
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return clip(strings.Join(strings.Fields(text), " "), most)
}

func clip(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
