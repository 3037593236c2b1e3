// Command echod serves the benchmark's work over gRPC on a unix socket, or relays requests to
// another server:
//
//	echod SOCKET
//	echod SOCKET NEXT
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/toolhost/toolhost/bench/internal/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "echod:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch len(args) {
	case 1:
		return wire.Serve(ctx, args[0], "")
	case 2:
		return wire.Serve(ctx, args[0], args[1])
	}
	return fmt.Errorf("usage: echod SOCKET [NEXT]")
}
