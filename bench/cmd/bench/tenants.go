package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/toolhost/toolhost/bench/internal/peer"
	"github.com/toolhost/toolhost/bench/internal/report"
	"github.com/toolhost/toolhost/bench/internal/work"
	"github.com/toolhost/toolhost/client"
)

// twoTeams are the settings of an operator with two teams, for which the benchmark makes calls as a
// delegate. One principal of the hostile team has a small quota, which is always full. The verb is
// the number of the present user.
const twoTeams = `
auth:
  bindings:
    - {role: admin, principals: ["uid:%[1]d"], tenants: [all]}
    - {role: delegate, principals: ["uid:%[1]d"], tenants: [all]}
    - {role: caller, members_of: [red, blue]}
quotas:
  tenant: {concurrent_calls: 64, artifact_bytes: 64MiB}
  principals: {red/full: {starts_per_minute: 60}}
`

// calmBound is the largest allowed ratio between the calm tenant's p99 next to the hostile tenant
// and that next to the control.
const calmBound = 2

// tenants measures the calls of a calm tenant while another tenant floods toolhost with calls,
// requests huge results, hangs, ends its processes, and has full quotas. It compares them with the
// same calls next to a control, which does not call toolhost and uses as much processor time as the
// hostile tenant took in all. A failed call of the calm tenant ends the measurement.
//
// Each round has a new toolhost for the hostile tenant and another one for the control, so that
// neither meets what the other has left, such as a quarantine.
func tenants(ctx context.Context, o options, _ *peer.Field, out io.Writer, results *report.Results) error {
	fmt.Fprintf(out, "a calm tenant next to a hostile one, for %v in each of %d rounds\n", o.length, o.rounds)
	beside, next := report.Point{Title: "a control process"}, report.Point{Title: "a hostile tenant"}
	calls := 0
	for range o.rounds {
		hostile, err := neighbors(ctx, o, func(address string) control { return control{{"-hostile", address, "-kinds", o.kinds}} })
		if err != nil {
			return fmt.Errorf("next to the hostile tenant: %w", err)
		}
		burned := hostile.used
		quiet, err := neighbors(ctx, o, func(string) control { return burned.control() })
		if err != nil {
			return fmt.Errorf("next to the control process: %w", err)
		}
		calls += hostile.calls + quiet.calls
		next.Figures, beside.Figures = append(next.Figures, hostile.p99.Seconds()*1000), append(beside.Figures, quiet.p99.Seconds()*1000)
		fmt.Fprintf(out, "  p99 %v next to the hostile tenant, which used %v; %v next to the control, which used %v: × %.2f\n",
			hostile.p99.Round(time.Microsecond), burned, quiet.p99.Round(time.Microsecond), quiet.used, float64(hostile.p99)/float64(quiet.p99))
	}
	fmt.Fprintf(out, "  no call of %d of the calm tenant failed\n", calls)
	results.Curves = append(results.Curves, report.Curve{Title: "p99 of a calm tenant, next to", Unit: "ms", Flat: calmBound, Points: []report.Point{beside, next}})
	return nil
}

// control is what runs next to the calm tenant: the arguments of processes of this program. All but
// the first have their own session.
type control [][]string

// shares are the processors that something uses, by where it runs.
type shares struct {
	clients float64 // in the process that calls, or stands for it
	server  float64 // in toolhost
	plugins float64 // in the plugins' processes, also in those that have ended
}

func (s shares) String() string {
	return fmt.Sprintf("%.2f processors (%.2f in its own process, %.2f in toolhost, %.2f in plugins)", s.clients+s.server+s.plugins, s.clients, s.server, s.plugins)
}

// control returns processes that use as much, with as many threads and sessions. The hostile client
// uses all processors at once, and toolhost and a plugin one each. Linux divides the processors
// among sessions first, and each plugin has its own.
func (s shares) control() control {
	return control{{"-burn", fmt.Sprintf("%.3f:%d,%.3f", s.clients, runtime.NumCPU(), s.server)}, {"-burn", fmt.Sprintf("%.3f", s.plugins)}}
}

// neighborhood is what a calm tenant saw.
type neighborhood struct {
	p99   time.Duration
	calls int
	used  shares // by what ran next to it; the calm tenant's own calls do not count
}

// neighbors makes the calls of the calm tenant in a new toolhost, next to the processes that other
// returns for the address of the toolhost.
func neighbors(ctx context.Context, o options, other func(address string) control) (n neighborhood, err error) {
	err = in(o.bin, func(f *peer.Field) error {
		plugins, err := f.Only("echo", "rude", "crash")
		if err != nil {
			return err
		}
		host, err := f.Toolhost(ctx, peer.House{Plugins: plugins, Settings: fmt.Sprintf(twoTeams, os.Getuid())})
		if err != nil {
			return err
		}
		calm := &calmTenant{host: host}
		alone, err := calm.measure(ctx, o.length/10) // also opens the connection and starts the plugin
		if err != nil {
			return err
		}
		next, err := calm.alongside(ctx, o.length, other(host.Address()))
		if err != nil {
			return err
		}
		own := float64(next.calls) / float64(alone.calls) * alone.length.Seconds() / next.length.Seconds() // of alone.used
		n = neighborhood{p99: next.p99, calls: alone.calls + next.calls, used: shares{
			clients: next.used.clients, server: max(next.used.server-own*alone.used.server, 0), plugins: max(next.used.plugins-own*alone.used.plugins, 0),
		}}
		return nil
	})
	return n, err
}

// calmTenant makes one call after the other, with a pause between them.
type calmTenant struct{ host *peer.Toolhost }

// watched is what one measurement of the calm tenant saw.
type watched struct {
	p99    time.Duration
	calls  int
	length time.Duration
	used   shares // by everything but this process
}

func (t *calmTenant) measure(ctx context.Context, length time.Duration) (w watched, err error) {
	blue := client.OnBehalfOf(ctx, client.Principal{Tenant: "blue", Name: "bob"})
	server, plugins, err := t.host.PIDs().Apart()
	if err != nil {
		return w, err
	}
	var all []time.Duration
	begun := time.Now()
	for time.Since(begun) < length || len(all) < fewest {
		called := time.Now()
		if _, err := t.host.Connect().Do(blue, work.Arguments(work.Small)); err != nil {
			return w, fmt.Errorf("call %d of the calm tenant: %w", len(all)+1, err)
		}
		all = append(all, time.Since(called))
		time.Sleep(calmPause)
	}
	w.length, w.calls = time.Since(begun), len(all)
	slices.Sort(all)
	w.p99 = all[len(all)*99/100]
	serverAfter, pluginsAfter, err := t.host.PIDs().Apart()
	w.used = shares{server: (serverAfter - server).Seconds() / w.length.Seconds(), plugins: (pluginsAfter - plugins).Seconds() / w.length.Seconds()}
	return w, err
}

// alongside is measure while other processes run.
func (t *calmTenant) alongside(ctx context.Context, length time.Duration, others control) (w watched, err error) {
	began := time.Now()
	used, err := alongside(ctx, others, func() error {
		w, err = t.measure(ctx, length)
		return err
	})
	w.used.clients = used.Seconds() / time.Since(began).Seconds()
	return w, err
}
