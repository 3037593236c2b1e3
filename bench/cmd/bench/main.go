// Command bench measures the cost of a call against other ways to call a tool. `make bench` builds
// and runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	bin, out string
	root     string
	parts    string
	rounds   int
	length   time.Duration
	only     string
	callers  string
	sizes    string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "folder `DIR` with the programs")
	flag.StringVar(&o.out, "out", "results", "folder `DIR` for the results: a table, JSON and plots")
	flag.StringVar(&o.parts, "parts", "calls,cold,growth,agent,languages", "the parts to measure: calls against peers, cold starts, growth, agentd, plugins in other languages; siege: a calm caller next to hostile ones")
	flag.StringVar(&o.root, "root", ".", "the checkout `DIR` with the SDKs to measure")
	flag.IntVar(&o.rounds, "rounds", 7, "the number of rounds; each contender has one turn per round")
	flag.DurationVar(&o.length, "time", time.Second, "the length of a turn")
	flag.StringVar(&o.only, "only", "", "measure only these contenders, keys separated by commas; relay is always included")
	flag.StringVar(&o.callers, "callers", "1,16,64", "the numbers of concurrent callers")
	flag.StringVar(&o.sizes, "sizes", "1024,65536", "the sizes of the answers, in bytes")
	siegeAt := flag.String("siege", "", "attack the toolhost at this `ADDRESS` and measure nothing; the part siege uses this")
	burned := flag.Float64("burn", 0, "use this many `PROCESSORS` and measure nothing; the part siege uses this")
	flag.Parse()
	if err := other(ctx, *siegeAt, *burned); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if *siegeAt != "" || *burned > 0 {
		return
	}
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// other does the work of the helper processes that the part siege starts, if a flag asks for it.
func other(ctx context.Context, siegeAt string, processors float64) error {
	switch {
	case siegeAt != "":
		return besiege(ctx, siegeAt)
	case processors > 0:
		return burn(ctx, processors)
	default:
		return nil
	}
}
