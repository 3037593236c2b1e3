package operate

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
)

// follow prints each item of a stream that goes on until the operator has seen enough: interrupting it is no failure.
// That the toolhost goes away is one.
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

// printAll prints each item of a stream that ends by itself.
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
