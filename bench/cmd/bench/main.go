// Command bench measures the cost of a call against other ways to call a tool. `make bench` builds
// and runs it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/bench/internal/attack"
	"github.com/toolhost/toolhost/bench/internal/peer"
)

// options are the flags.
type options struct {
	bin, out string
	against  string
	root     string
	parts    string
	rounds   int
	length   time.Duration
	only     string
	callers  string
	sizes    string
	kinds    string
	mcp      string
	short    bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "folder `DIR` with the programs")
	flag.StringVar(&o.against, "against", "", "folder `DIR` with toolhost and echo of another revision, to which the part calls compares")
	flag.StringVar(&o.out, "out", "results", "folder `DIR` for the results: a table, JSON and plots")
	flag.StringVar(&o.parts, "parts", "calls,cold,growth,agent,languages", "the parts to measure: calls against peers, cold starts, growth, agentd, plugins in other languages; siege: a calm caller next to hostile ones; telemetry: what metrics and traces cost; tenants: a calm tenant next to a hostile one; identity: what TLS and credentials cost; mcp: calls of MCP clients against an MCP proxy; attacks: a calm caller while others misuse each server")
	flag.StringVar(&o.root, "root", ".", "the checkout `DIR` with the SDKs to measure")
	flag.IntVar(&o.rounds, "rounds", 7, "the number of rounds; each contender has one turn per round")
	flag.DurationVar(&o.length, "time", time.Second, "the length of a turn")
	flag.StringVar(&o.only, "only", "", "measure only these contenders, keys separated by commas; relay is always included")
	flag.StringVar(&o.callers, "callers", "1,16,64", "the numbers of concurrent callers")
	flag.StringVar(&o.sizes, "sizes", "1024,65536", "the sizes of the answers, in bytes")
	siegeAt := flag.String("siege", "", "attack the toolhost at this `ADDRESS` and measure nothing; the part siege uses this")
	hostileAt := flag.String("hostile", "", "misuse the toolhost at this `ADDRESS` as one tenant and measure nothing; the part tenants uses this")
	attackKind := flag.String("attack", "", "misuse the server of -target in the way `KIND` and measure nothing; the part attacks uses this")
	target := flag.String("target", "", "with -attack: the server, as JSON")
	flag.StringVar(&o.kinds, "kinds", "", "with the part attacks: only those with this text in SERVER/ATTACKER/ATTACK; with the part tenants: what the hostile tenant does, of flood, huge, artifacts, hung, crashes and full, separated by commas; all of it if empty")
	flag.StringVar(&o.mcp, "mcp", "", "with the part mcp: measure only what has this `TEXT` in its title, such as HTTP or 2025-11-25")
	flag.BoolVar(&o.short, "short", false, "with the part growth: small numbers, to see that it runs to its end")
	burned := flag.String("burn", "", "use this many `PROCESSORS`, or several parts with commas such as 0.5:2,0.7, where 2 is the number of threads, and measure nothing; the parts siege and tenants use this")
	flag.Parse()
	if err := other(ctx, o, *siegeAt, *hostileAt, *burned, *attackKind, *target); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if *siegeAt != "" || *hostileAt != "" || *burned != "" || *attackKind != "" {
		return
	}
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// other does the work of a helper process of the parts siege, tenants and attacks, if a flag asks
// for it.
func other(ctx context.Context, o options, siegeAt, hostileAt, burned, kind, target string) error {
	switch {
	case hostileAt != "":
		return misbehave(ctx, hostileAt, o.kinds)
	case siegeAt != "":
		return besiege(ctx, siegeAt)
	case kind != "":
		var at peer.Target
		if err := json.Unmarshal([]byte(target), &at); err != nil {
			return fmt.Errorf("reading -target: %w", err)
		}
		return attack.Run(ctx, kind, at)
	case burned != "":
		return burn(ctx, burned)
	default:
		return nil
	}
}
