//go:build more && pictures

package console_test

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/toolhost/toolhost/client"
)

var pictures = flag.String("pictures", "", "the folder for the pictures")

// TestPictures makes the pictures of docs/console.md from the pages of a real agentd.
func TestPictures(t *testing.T) {
	s := newSite(t, []rule{{Name: "payments", When: `tool.name == "pay"`, Then: "require_approval", Reason: "payments need a person"}},
		payment(120, "ACME Ltd", "invoice 17"), task{{"shell", map[string]any{"command": "make release", "working_directory": "services/shop"}}},
		task{{"http_request", map[string]any{"url": "https://b\u0430nk.example/transfer"}}})
	for i := range s.tasks {
		s.run(i, "Pay what is due, and release the shop.")
	}
	login, _ := s.code()
	out := newTab(t, login)
	in := s.logIn(t, "/")
	for _, look := range []struct {
		scheme, name string
		width, high  int64
	}{{"light", "phone", 360, 640}, {"dark", "phone", 360, 640}, {"light", "desk", 800, 600}, {"dark", "desk", 800, 600}} {
		for _, one := range []struct {
			b          *tab
			name, path string
		}{{out, "login", "/"}, {in, "inbox", "/"}, {in, "decision", "/decisions/run-0/d1"}, {in, "run", "/runs/run-0"}} {
			b := one.b
			command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}})
			b.do(chromedp.EmulateViewport(look.width, look.high, chromedp.EmulateMobile))
			b.open(one.path)
			if one.name == "decision" {
				b.awaits("button[value=approve]")
			}
			shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(*pictures, one.name+"-"+look.name+"-"+look.scheme+".png"), small(t, shot), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := s.verdict("run-0/d1"); got != client.Verdict("") {
		t.Errorf("a picture decided: %s", got)
	}
}

// small returns a picture with only its 16 most frequent colors, which is a third of its size.
func small(t *testing.T, shot []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	count := map[color.Color]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			count[full.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return count[b] - count[a] })
	few := image.NewPaletted(full.Bounds(), colors[:min(16, len(colors))])
	draw.Draw(few, few.Bounds(), full, image.Point{}, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
