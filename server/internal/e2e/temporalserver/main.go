// Command temporalserver is a Temporal service for tests and trials of agentd: one process that
// keeps everything in memory, with the namespace default and the search attributes of agentd.
// SIGKILL is the loss of its database.
//
// It is a Go module of its own, which nothing else compiles, because it depends on 1,750 packages.
// `make temporal` builds it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/temporaltest"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	namespace = "default"
	// patience bounds how long the server takes to know a namespace that was just registered.
	patience = time.Minute
)

func main() {
	address := flag.String("address", "127.0.0.1:7233", "the `ADDRESS` to listen at")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *address); err != nil {
		log.Fatal(err)
	}
}

// serve serves until ctx ends. It prints one line when the namespace can be used.
func serve(ctx context.Context, address string) error {
	server := temporaltest.NewServer() // on a port of its own choice
	defer server.Stop()
	if err := prepare(ctx, server); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	fmt.Printf("Temporal is ready at %s, with everything in memory\n", address)
	var group sync.WaitGroup
	defer group.Wait()
	for {
		connection, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		group.Go(func() { pass(ctx, connection, server.GetFrontendHostPort()) }) // ends with ctx, or with the connection
	}
}

// pass passes what comes on a connection to the server, and its answers back.
func pass(ctx context.Context, from net.Conn, address string) {
	to, err := net.Dial("tcp", address)
	if err != nil {
		_ = from.Close()
		return
	}
	end := func() { _ = from.Close(); _ = to.Close() }
	defer context.AfterFunc(ctx, end)()
	defer end()
	back := make(chan struct{})
	go func() { // ends with the connections
		defer close(back)
		_, _ = io.Copy(from, to)
		end()
	}()
	_, _ = io.Copy(to, from)
	end()
	<-back
}

// prepare makes the namespace and the search attributes, and waits until the server knows them.
func prepare(ctx context.Context, server *temporaltest.TestServer) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := server.NewClientWithOptions(client.Options{Namespace: namespace})
	if _, err := c.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	}); err != nil {
		return fmt.Errorf("registering the namespace: %w", err)
	}
	attributes := map[string]enums.IndexedValueType{}
	for _, name := range []string{"AgentdTenant", "AgentdAgent", "AgentdState"} {
		attributes[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
	}
	for {
		_, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: attributes})
		if err == nil {
			_, err = c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: "AgentdState = 'working'"})
		}
		if err == nil {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("registering the search attributes: %w", err)
		}
	}
}
