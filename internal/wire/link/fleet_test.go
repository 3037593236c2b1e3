package link_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

func open(addr string) (*link.Link, error) {
	at, err := address.ParseServer(addr)
	if err != nil {
		return nil, err
	}
	return link.New(at, "toolhost", 1<<20, credential.Resolved{})
}

// order returns the addresses in the order of a key.
func order(t *testing.T, f *link.Fleet, key string) (all []string) {
	t.Helper()
	links, err := f.Order(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		all = append(all, l.Addr())
	}
	return all
}

// A fleet keeps the order of the servers that stay, and those that it knows while a lookup fails.
func TestFoundServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var found []string
		failure := errors.New("there is no name server")
		lookups := 0
		f := link.FindFleet("dns:///tools.example:1", func(context.Context) ([]string, error) {
			lookups++
			return found, failure
		}, open)
		defer f.Close()
		if _, err := f.Order(t.Context(), "k"); tool.KindOf(err) != tool.KindUnavailable || !errors.Is(err, link.ErrNoServer) || !strings.Contains(err.Error(), "no name server") {
			t.Errorf("no lookup has succeeded: %v", err)
		}
		found, failure = nil, nil
		if _, err := f.Order(t.Context(), "k"); !errors.Is(err, link.ErrNoServer) {
			t.Errorf("there are no addresses: %v", err)
		}
		found = []string{"192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1"}
		before := order(t, f, "k")
		if again := order(t, f, "k"); !slices.Equal(again, before) || lookups != 3 {
			t.Errorf("%v, then %v after %d lookups", before, again, lookups)
		}
		later := func() []string {
			time.Sleep(time.Minute)
			order(t, f, "k") // begins a lookup, and does not wait for it
			synctest.Wait()
			return order(t, f, "k")
		}
		failure = errors.New("there is no name server")
		if got := later(); !slices.Equal(got, before) {
			t.Errorf("after a failed lookup: %v, want %v", got, before)
		}
		found, failure = slices.DeleteFunc(slices.Clone(found), func(a string) bool { return a == before[0] }), nil
		if got := later(); !slices.Equal(got, before[1:]) {
			t.Errorf("without the first one: %v, want %v", got, before[1:])
		}
		found = nil
		for i := range 101 {
			found = append(found, fmt.Sprint("192.0.2.1:", i+1))
		}
		if got := later(); !slices.Equal(got, before[1:]) {
			t.Errorf("after too many addresses: %d of them", len(got))
		}
	})
}

// A key without a server of its own goes to one that each fleet chooses, and always to the same
// one.
func TestRequestsWithoutAKeyAreSpread(t *testing.T) {
	first := map[string]bool{}
	for range 100 {
		var links []*link.Link
		for i := range 3 {
			l, err := open(fmt.Sprint("127.0.0.1:", i+1))
			if err != nil {
				t.Fatal(err)
			}
			links = append(links, l)
		}
		f := link.NewFleet("three", links...)
		a, b := order(t, f, ""), order(t, f, "")
		if !slices.Equal(a, b) {
			t.Errorf("%v, then %v", a, b)
		}
		first[a[0]] = true
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(first) != 3 {
		t.Errorf("all requests go to %v", first)
	}
}
