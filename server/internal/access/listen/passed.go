package listen

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/toolhost/toolhost/internal/address"
)

// passed are the sockets that systemd holds for this process, by their addresses; see
// systemd.socket(5). They stay open while the process is replaced, so that a client waits for the
// next process instead of failing. The socket unit decides their owner and mode.
type passed map[string]*address.Listener

// takePassed takes the sockets over. It finds each of them once.
func takePassed() (passed, error) {
	listeners, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("taking over the sockets of systemd: %w", err)
	}
	taken := passed{}
	for _, l := range listeners {
		if l == nil {
			continue // a pipe, or a socket of another kind
		}
		adopted, err := address.Adopt(l)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("taking over a socket of systemd: %w", err), l.Close(), taken.close())
		}
		taken[adopted.Address().String()] = adopted
	}
	return taken, nil
}

// take returns the socket of an address, or nil.
func (p passed) take(at address.Address) *address.Listener {
	l := p[at.String()]
	delete(p, at.String())
	return l
}

// unused returns an error if a socket was not taken: its clients would wait for ever.
func (p passed) unused() error {
	if len(p) == 0 {
		return nil
	}
	return fmt.Errorf("systemd passes a socket at %s, where no listener is configured; give listen or listeners the address of ListenStream in the socket unit",
		strings.Join(slices.Sorted(maps.Keys(p)), " and "))
}

func (p passed) close() error {
	var errs []error
	for _, l := range p {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
