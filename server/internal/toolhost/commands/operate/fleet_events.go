package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/fleet"
	"github.com/toolhost/toolhost/tool"
)

// maxEventsOfNode bounds the events of one node. A toolhost keeps fewer.
const maxEventsOfNode = 20_000

// eventOfNode is an event of a fleet, as -o json prints it.
type eventOfNode struct {
	Node string `json:"node"`
	tool.PluginEvent
}

// fleetEvents prints the events of a fleet.
type fleetEvents struct {
	p      cli.Process
	asJSON bool
	width  int // of the longest label

	mutex sync.Mutex // for output
}

func (c *Connection) eventsOfFleet(ctx context.Context, query tool.EventQuery, asJSON bool) error {
	if query.After > 0 {
		return cli.Usage("--after and --fleet exclude each other, because each toolhost counts its own events; use --since")
	}
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	answers := fleet.Ask(ctx, nodes.Nodes, c.nodeWait, func(ctx context.Context, c *client.Client) ([]tool.PluginEvent, error) {
		return keptEvents(ctx, c, query)
	})
	shown := c.Process
	shown.Stdout = cli.UntilDone(ctx, shown.Stdout)
	show := &fleetEvents{p: shown, asJSON: asJSON}
	var all []eventOfNode
	for _, a := range answers {
		show.width = max(show.width, len(a.Node.Name))
		for _, e := range a.Value {
			all = append(all, eventOfNode{a.Node.Name, e})
		}
	}
	// Events with equal times stay in the order of their toolhost.
	slices.SortStableFunc(all, func(a, b eventOfNode) int { return a.Time.Compare(b.Time) })
	for _, e := range all {
		if err := show.event(e); err != nil {
			return err
		}
	}
	if query.Follow {
		return c.followFleet(ctx, query, answers, show)
	}
	if asJSON {
		for _, s := range fleet.Statuses(answers) {
			if err := show.problem(s); err != nil {
				return err
			}
		}
		return fleet.Err(answers)
	}
	if len(all) == 0 && fleet.Err(answers) == nil {
		fmt.Fprintln(c.Process.Err(), "no such events are kept")
	}
	if err := fleet.WriteProblems(c.Process, fleet.Statuses(answers), len(all) == 0); err != nil {
		return err
	}
	return fleet.Err(answers)
}

// keptEvents returns the events that a toolhost keeps. Errors: not_found for an unknown plugin.
func keptEvents(ctx context.Context, c *client.Client, query tool.EventQuery) ([]tool.PluginEvent, error) {
	query.Follow = false
	var events []tool.PluginEvent
	size := 0
	err := printAll(c.Admin().WatchEvents(ctx, query), func(e tool.PluginEvent) error {
		events = append(events, e)
		size += len(e.Reason) + len(e.Plugin) + len(e.Instance) + len(e.Type) + len(e.Digest) + len(e.Tenant)
		if len(events) > maxEventsOfNode || size > fleet.MaxAnswerBytes {
			return errors.New("it answered with more events than a toolhost keeps")
		}
		return nil
	})
	if err == nil && len(events) == 0 && query.Plugin != "" {
		_, err = findPlugin(ctx, c, query.Plugin)
	}
	return events, err
}

func (s *fleetEvents) event(e eventOfNode) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.asJSON {
		return cli.WriteJSON(s.p.Stdout, e)
	}
	_, err := fmt.Fprintf(s.p.Out(), "%-*s %s\n", s.width, cli.OneLine(e.Node), eventText(e.PluginEvent))
	return err
}

// problem prints why a node does not answer, or no longer. It prints nothing for one that answers.
func (s *fleetEvents) problem(status fleet.Status) error {
	if status.State == fleet.Answered {
		return nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.asJSON {
		return cli.WriteJSON(s.p.Stdout, status)
	}
	_, err := fmt.Fprintf(s.p.Err(), "toolhost: %s: %s\n", cli.OneLine(status.Node), cli.OneLine(status.Reason))
	return err
}

// followFleet prints the new events of the nodes that have answered, until an interrupt or until
// all of them have gone away.
func (c *Connection) followFleet(ctx context.Context, query tool.EventQuery, answers []fleet.Answer[[]tool.PluginEvent], show *fleetEvents) error {
	var following sync.WaitGroup
	var mutex sync.Mutex
	var failure error // of the output
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	gone := func(err error) {
		mutex.Lock()
		defer mutex.Unlock()
		if failure == nil {
			failure = err
		}
		if err != nil {
			stop()
		}
	}
	followed := 0
	for _, a := range answers {
		if a.State != fleet.Answered {
			gone(show.problem(a.Status))
			continue
		}
		followed++
		if n := len(a.Value); n > 0 {
			query.After = a.Value[n-1].Seq
		} else {
			query.After = 0
		}
		from := query
		following.Go(func() { gone(followNode(ctx, a.Node, from, show)) })
	}
	following.Wait()
	switch {
	case failure != nil:
		return failure
	case followed == 0:
		return fleet.Err(answers)
	case ctx.Err() != nil: // an interrupt is the usual way to leave
		return fleet.Err(answers)
	}
	return &cli.ExitError{Code: cli.ExitNoServer, Err: errors.New("all toolhosts that were followed have gone away")}
}

// followNode prints the new events of one node. The error is of the output.
func followNode(ctx context.Context, node target.Node, query tool.EventQuery, show *fleetEvents) error {
	away := fleet.Status{Node: node.Name, Address: node.Address.String(), State: fleet.NoAnswer}
	toolhost, err := client.Dial(node.Address.String(), node.DialOptions()...)
	if err == nil {
		defer toolhost.Close()
		var output error
		err = follow(ctx, toolhost.Admin().WatchEvents(ctx, query), func(e tool.PluginEvent) error {
			if err := fleet.Check(e); err != nil {
				return err
			}
			output = show.event(eventOfNode{node.Name, e})
			return output
		})
		if output != nil {
			return output
		}
	}
	if err == nil || ctx.Err() != nil {
		return nil
	}
	away.Reason = cli.Clip(strings.TrimPrefix(err.Error(), "the connection was lost: "), 400)
	return show.problem(away)
}
