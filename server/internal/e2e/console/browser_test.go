//go:build more

package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// tab is a tab with cookies of its own. At the end of the test it fails if a page did what no page
// may do.
type tab struct {
	t    *testing.T
	ctx  context.Context
	url  string // of the pages
	taps int

	mu  sync.Mutex
	did []string // dialogs, windows, frames, messages in the console, and requests to other places
}

// newTab returns a tab with the size of a small phone.
func newTab(t *testing.T, url string) *tab {
	t.Helper()
	ctx, _ := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, url: url}
	t.Cleanup(func() {
		bounded, cancel := b.within()
		defer cancel()
		if err := chromedp.Cancel(bounded); err != nil {
			t.Error(err)
		}
		for _, what := range b.misdeeds() {
			t.Error(what)
		}
	})
	if err := chromedp.Listen(ctx, b.watch); err != nil {
		t.Fatal(err)
	}
	command(b, network.Enable, network.EnableParams{})
	command(b, log.Enable, cdp.Empty{})
	b.do(chromedp.EmulateViewport(320, 568, chromedp.EmulateMobile, chromedp.EmulateTouch))
	return b
}

// watch notes an event of the tab that no page may cause.
func (b *tab) watch(event any) {
	note := func(format string, args ...any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.did = append(b.did, fmt.Sprintf(format, args...))
	}
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		note("the page %s opens the dialog %q", e.URL, e.Message)
		go func() { // ends with the answer of the browser, which waits for it
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}()
	case *page.EventWindowOpen:
		note("a page opens a window with %s", e.URL)
	case *page.EventFrameAttached:
		note("a page has a frame")
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.url+"/") {
			note("the page %s requests %s", e.DocumentURL, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		note("a script fails: %s", e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		note("a script writes to the console")
	case *log.EventEntryAdded:
		note("the browser says: %s: %s", e.Entry.URL, e.Entry.Text)
	}
}

// misdeeds returns what no page may do, and forgets it.
func (b *tab) misdeeds() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	did := b.did
	b.did = nil
	return did
}

// within bounds what a browser does, so that a test that fails ends.
func (b *tab) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, *patience)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// command sends a command of the protocol.
func command[P, R any](b *tab, c cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	result, err := chromedp.Call(ctx, c, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// eval calls a function in the page.
func eval[T any](b *tab, function string, args ...any) T {
	b.t.Helper()
	var texts []string
	for _, arg := range args {
		text, err := json.Marshal(arg)
		if err != nil {
			b.t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	ctx, cancel := b.within()
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T]("("+function+")("+strings.Join(texts, ",")+")"))
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// open opens a page by its path.
func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url + path))
}

// text returns what a person can read in the page.
func (b *tab) text() string {
	b.t.Helper()
	return eval[string](b, "() => document.body.innerText")
}

// loads does what loads another page, and returns when it is there.
func (b *tab) loads(trigger chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.within()
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.WaitEvent(page.LoadEventFired, nil, trigger)); err != nil {
		b.t.Fatal(err)
	}
}

// awaits returns when a person sees an element: a button that is not armed is invisible.
func (b *tab) awaits(selector string) {
	b.t.Helper()
	eventually.Holds(b.t, selector+" is visible", func() bool {
		return eval[bool](b, `selector => !!document.querySelector(selector)?.checkVisibility({visibilityProperty: true})`, selector)
	})
}

// tap taps on something that leads to another page, as soon as it is visible.
func (b *tab) tap(selector string) {
	b.t.Helper()
	b.taps++
	b.awaits(selector)
	b.loads(chromedp.Tap(chromedp.CSS(selector)))
}

// logIn opens a page with a new login.
func (s *site) logIn(t *testing.T, path string) *tab {
	t.Helper()
	url, code := s.code()
	b := newTab(t, url)
	b.open(path)
	b.do(chromedp.SendKeys(chromedp.CSS("#code"), code))
	b.tap("button.yes")
	b.taps = 0
	return b
}

// hidden returns those of the texts that no person sees without scrolling.
func (b *tab) hidden(texts ...string) []string {
	b.t.Helper()
	return eval[[]string](b, `texts => texts.filter(text => {
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let node; (node = walker.nextNode());) {
			const at = node.data.indexOf(text);
			if (at < 0) continue;
			const range = document.createRange();
			range.setStart(node, at);
			range.setEnd(node, at + text.length);
			const boxes = [...range.getClientRects()];
			const seen = box => box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight &&
				node.parentElement.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2));
			if (boxes.length && boxes.every(seen)) return false;
		}
		return true;
	})`, texts)
}
