// Command bench measures what a call costs, side by side with other ways to call a tool: `make bench` builds and runs it.
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

// options are what the command line says.
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
	flag.StringVar(&o.parts, "parts", "calls,cold,growth,agent,languages", "what is measured: calls beside their peers, cold starts, growth, agentd, plugins in other languages; siege: a calm caller under hostile ones")
	flag.StringVar(&o.root, "root", ".", "the checkout `DIR`, whose SDKs are measured")
	flag.IntVar(&o.rounds, "rounds", 7, "how many rounds; each contender has one turn in each")
	flag.DurationVar(&o.length, "time", time.Second, "how long a turn takes")
	flag.StringVar(&o.only, "only", "", "only these contenders, by their keys, separated by commas; relay is always in")
	flag.StringVar(&o.callers, "callers", "1,16,64", "how many callers there are at once")
	flag.StringVar(&o.sizes, "sizes", "1024,65536", "sizes of the answers, in bytes")
	siegeAt := flag.String("siege", "", "attack the toolhost at this `ADDRESS` and measure nothing: what the part siege starts")
	burned := flag.Float64("burn", 0, "use so many `PROCESSORS` and measure nothing: what the part siege starts")
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

// other does what a measurement has another process do, if that is wanted.
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
