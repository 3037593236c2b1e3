package main

import (
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/toolhost/toolhost/sdk"
)

// maxFrames bounds the frames of a page that are named.
const maxFrames = 5

// hints are the parts of a page that say where its content is, if the page has no text.
type hints struct {
	refresh  string   // the URL that a browser goes on to; empty: none
	frames   []string // the URLs of the pages that it shows
	scripts  bool     // it runs scripts
	noscript string   // what it says to a reader without scripts
	title    string
}

// take examines an element before prune removes it.
func (h *hints) take(n *html.Node) {
	switch n.DataAtom {
	case atom.Title:
		if h.title == "" && n.Namespace == "" && n.FirstChild != nil {
			h.title = oneLine(n.FirstChild.Data, 200)
		}
	case atom.Meta:
		if h.refresh == "" && strings.EqualFold(attribute(n, "http-equiv"), "refresh") {
			h.refresh = refreshTarget(attribute(n, "content"))
		}
	case atom.Frame, atom.Iframe:
		if source := strings.TrimSpace(attribute(n, "src")); source != "" && len(h.frames) < maxFrames {
			h.frames = append(h.frames, source)
		}
	case atom.Script:
		h.scripts = true
	case atom.Noscript:
		if h.noscript == "" && n.FirstChild != nil { // the parser leaves its content as text
			h.noscript = oneLine(plain(n.FirstChild.Data), 300)
		}
	}
}

// refreshTarget returns the URL in the content of a meta refresh, such as "0; url=/next"; empty if
// it has none, which reloads the page.
func refreshTarget(content string) string {
	_, target, found := strings.Cut(content, ";")
	if !found {
		_, target, _ = strings.Cut(content, ",")
	}
	target = strings.TrimSpace(target)
	if name, value, found := strings.Cut(target, "="); found && strings.EqualFold(strings.TrimSpace(name), "url") {
		target = strings.TrimSpace(value)
	}
	return strings.Trim(target, `"'`)
}

// texts returns the text of the page, if it has any, and what a model needs to know beside it.
func (h *hints) texts(text string, location *url.URL) (blocks []sdk.Content) {
	if text != "" {
		blocks = append(blocks, sdk.Text(text))
	}
	if notes := h.notes(location, text == "" || text == h.title); notes != "" {
		blocks = append(blocks, sdk.Text(notes))
	}
	return blocks
}

// notes returns what a model needs to know about a page beside its text. blank says that it has no
// text. What the page says about itself is bounded, and so are the URLs.
func (h *hints) notes(location *url.URL, blank bool) string {
	var notes []string
	if target := resolve(location, h.refresh); target != "" && target != location.String() {
		notes = append(notes, "a browser goes on from here to "+target+": fetch that")
	}
	if blank {
		notes = append(notes, h.whyBlank(location, len(notes) > 0)...)
	}
	if len(notes) == 0 {
		return ""
	}
	return "[This page: " + strings.Join(notes, "; ") + ".]"
}

// whyBlank returns why a page has no text, and what helps. The format raw is the last resort.
func (h *hints) whyBlank(location *url.URL, onward bool) []string {
	var frames []string
	for _, frame := range h.frames {
		if address := resolve(location, frame); address != "" {
			frames = append(frames, address)
		}
	}
	var notes []string
	if h.noscript != "" {
		notes = append(notes, fmt.Sprintf("without scripts it says %q", h.noscript))
	}
	switch {
	case onward:
	case len(frames) > 0:
		notes = append(notes, "it has no text of its own and shows other pages, which can be fetched: "+strings.Join(frames, " "))
	case h.scripts:
		notes = append(notes, "it has no text, because scripts make its content in a browser and no script is run here: fetch the API behind it or another page; the format raw shows the source")
	default:
		notes = append(notes, "it has no text; the format raw shows the source")
	}
	return notes
}

// resolve returns the absolute form of a page's URL, cut; empty for one that cannot be fetched.
func resolve(location *url.URL, target string) string {
	if target == "" {
		return ""
	}
	u, err := location.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	u.User = nil
	return clip(u.String(), maxURL)
}

// visible reports whether a tree has text or a picture that a reader sees, after prune.
func visible(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.Type == html.TextNode && strings.TrimSpace(d.Data) != "" || d.DataAtom == atom.Img {
			return true
		}
	}
	return false
}
