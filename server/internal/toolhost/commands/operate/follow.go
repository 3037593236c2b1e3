package operate

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// follow prints the items of a stream that has no end. An interrupt ends it without an error. If
// toolhost stops, follow returns an error.
func follow[T any](ctx context.Context, stream iter.Seq2[T, error], print func(T) error) error {
	for item, err := range stream {
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, client.ErrNoServer):
			return &cli.ExitError{Code: cli.ExitNoServer, Err: fmt.Errorf("the connection was lost: %w", err)}
		case err != nil:
			return err
		}
		if err := print(item); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitNoServer, Err: errors.New("the toolhost that was followed has stopped")}
}

// printAll prints the items of a stream to its end.
func printAll[T any](stream iter.Seq2[T, error], print func(T) error) error {
	for item, err := range stream {
		if err != nil {
			return err
		}
		if err := print(item); err != nil {
			return err
		}
	}
	return nil
}
