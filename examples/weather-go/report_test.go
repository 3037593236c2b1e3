package main

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

func TestForecast(t *testing.T) {
	host := sdktest.New(t, plugin())
	for arguments, want := range map[string]string{
		`{"city":"Lagos","days":2}`: "Lagos: sun, rain",
		`{"city":"Oslo"}`:           "Oslo: rain",
		`{"city":"Atlantis"}`:       `there is no forecast for "Atlantis"`,
		`{"city":"Oslo","days":0}`:  "days", // the error for the model names what does not fit
	} {
		if got := host.Call("forecast", arguments).Text(); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", arguments, got, want)
		}
	}
}

func TestReportIsShownWhileItIsWritten(t *testing.T) {
	stream := sdktest.New(t, plugin()).Stream("report")
	stream.Append(`{"text":"Sno`)
	stream.WaitStatus(func(s sdk.Status) bool { return s.Message == "so far: Sno" })
	stream.Append(`w.","stations":1}`)
	stream.Complete(nil)
	if got, want := stream.Wait().Text(), "5 letters sent to 1 stations"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
