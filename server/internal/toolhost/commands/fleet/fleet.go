package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
	"github.com/toolhost/toolhost/tool"
)

// MaxAnswerBytes bounds the answer of one node, as JSON.
const MaxAnswerBytes = 16 << 20

// State says what became of a question to a node.
type State string

// The states of a node.
const (
	Answered State = "answered"
	NotFound State = "not_found" // the node answered that it does not have what the question names
	NoAnswer State = "no_answer" // no server answers, or it did not answer in time
	Refused  State = "refused"   // the node does not let the caller ask
	Failed   State = "failed"    // the node answered with another error, or with something impossible
)

// Status is what became of a question to a node, as -o json prints it.
type Status struct {
	Node    string `json:"node"`
	Address string `json:"address"`
	State   State  `json:"state"`
	Reason  string `json:"reason,omitempty"` // empty for Answered
}

// Answer is the answer of one node.
type Answer[T any] struct {
	Node  target.Node
	Value T // zero unless the state is Answered
	Status
	Err error // nil if and only if the state is Answered
}

// Ask asks all nodes at once and returns their answers in the order of the nodes. Each node has the
// time wait, which includes the connection. ask must return soon after its context ends. If ctx
// ends, the nodes that have not answered yet have the state NoAnswer.
func Ask[T any](ctx context.Context, nodes []target.Node, wait time.Duration, ask func(context.Context, *client.Client) (T, error)) []Answer[T] {
	answers := make([]Answer[T], len(nodes))
	var asked sync.WaitGroup
	for i, node := range nodes {
		asked.Go(func() { answers[i] = askOne(ctx, node, wait, ask) })
	}
	asked.Wait()
	return answers
}

func askOne[T any](ctx context.Context, node target.Node, wait time.Duration, ask func(context.Context, *client.Client) (T, error)) Answer[T] {
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var value T
	toolhost, err := client.Dial(node.Address.String(), node.DialOptions()...)
	if err == nil {
		defer toolhost.Close()
		value, err = ask(within, toolhost)
	}
	if err == nil {
		err = Check(value)
	}
	a := answerOf[T](ctx, within, node, err, wait)
	if err == nil {
		a.Value = value
	}
	return a
}

// answerOf returns the answer of a node without its value. within is the node's part of ctx.
func answerOf[T any](ctx, within context.Context, node target.Node, err error, wait time.Duration) Answer[T] {
	late := ctx.Err() == nil && (within.Err() != nil || tool.KindOf(err) == tool.KindTimeout) // the node knows the deadline, too
	return Answer[T]{Node: node, Err: err, Status: statusOf(node, err, late, wait)}
}

// Check returns an error for an answer that is too large, or that has no form in JSON, such as a
// time after the year 9999.
func Check(answer any) error {
	data, err := json.Marshal(answer)
	switch {
	case err != nil:
		return errors.New("it answered with a value that no toolhost has")
	case len(data) > MaxAnswerBytes:
		return fmt.Errorf("its answer has more than %s", cli.Size(MaxAnswerBytes))
	}
	return nil
}

// statusOf returns the status of a node. late says that the node's time is over.
func statusOf(node target.Node, err error, late bool, wait time.Duration) Status {
	s := Status{Node: node.Name, Address: node.Address.String(), State: Answered}
	if err == nil {
		return s
	}
	s.Reason = err.Error()
	switch {
	case late:
		s.State, s.Reason = NoAnswer, fmt.Sprintf("it did not answer within %s", wait)
	case errors.Is(err, client.ErrNoServer), errors.Is(err, context.Canceled), tool.KindOf(err) == tool.KindCancelled:
		s.State = NoAnswer
	case tool.KindOf(err) == tool.KindDenied:
		s.State = Refused
	case tool.KindOf(err) == tool.KindNotFound:
		s.State = NotFound
	default:
		s.State = Failed
	}
	s.Reason = cli.Clip(cli.OneLine(s.Reason), maxReason)
	return s
}

// maxReason bounds the characters of a reason, because a node chooses it.
const maxReason = 400

// Statuses returns the status of each node.
func Statuses[T any](answers []Answer[T]) []Status {
	all := make([]Status, 0, len(answers))
	for _, a := range answers {
		all = append(all, a.Status)
	}
	return all
}

// Err returns nil if each node answered, also that it does not have what was asked for. Otherwise
// it returns an error with a count, of code ExitNoServer if no server answers at any address, else
// ExitInfrastructure.
func Err[T any](answers []Answer[T]) error {
	answered, absent, unfound := 0, 0, 0
	for _, a := range answers {
		switch {
		case a.State == Answered:
			answered++
		case a.State == NotFound:
			unfound++
		case errors.Is(a.Err, client.ErrNoServer):
			absent++
		}
	}
	switch n := len(answers); {
	case answered+unfound == n && answered > 0:
		return nil
	case unfound == n:
		return answers[0].Err
	case absent == n && n == 1:
		return answers[0].Err
	case absent == n:
		return &cli.ExitError{Code: cli.ExitNoServer, Err: fmt.Errorf("none of %s answers", cli.Count(n, "toolhost"))}
	default:
		return &cli.ExitError{Code: cli.ExitInfrastructure, Err: fmt.Errorf("%d of %s answered", answered+unfound, cli.Count(n, "toolhost"))}
	}
}

// WriteProblems writes a table of the nodes that did not answer, with the reasons. It writes
// nothing if each node answered. first says that no other text is before the table.
func WriteProblems(p cli.Process, statuses []Status, first bool) error {
	var rows [][]string
	for _, s := range statuses {
		if s.State != Answered {
			rows = append(rows, []string{s.Node, stateWords[s.State], s.Reason})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if !first {
		if _, err := fmt.Fprintln(p.Out()); err != nil {
			return err
		}
	}
	return cli.WriteTable(p.Stdout, p.Screen(), []string{"NODE", "STATE", "REASON"}, rows)
}

var stateWords = map[State]string{Answered: "answered", NotFound: "not found", NoAnswer: "no answer", Refused: "refused", Failed: "failed"}
