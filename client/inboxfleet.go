package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

// inboxRetry is the pause before a toolhost that does not answer is watched again.
const inboxRetry = 5 * time.Second

// Each of several toolhosts holds its own calls. The inbox of all toolhosts has the calls of the
// first toolhost, then those of the second one, in the order of their addresses. Its position
// consists of the positions of all toolhosts. The token of a page consists of the address of a
// toolhost and a token of that toolhost.

// inboxPositions are the positions of toolhosts by address. The zero value is no position.
type inboxPositions map[string]string

func parsePositions(text string) (inboxPositions, error) {
	all := inboxPositions{}
	if text == "" {
		return all, nil
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil || all == nil { // null is JSON
		return nil, tool.Errorf(tool.KindInvalidArgument, "the position is not one of this inbox")
	}
	return all, nil
}

func (p inboxPositions) String() string {
	text, _ := json.Marshal(p) // a map of strings cannot fail
	return string(text)
}

func (c *Client) inboxes(ctx context.Context) ([]*link.Link, error) {
	nodes, err := c.fleet.Order(ctx, "")
	slices.SortFunc(nodes, func(a, b *link.Link) int { return strings.Compare(a.Addr(), b.Addr()) })
	return nodes, err
}

func missing(at *link.Link, err error) string {
	return fmt.Sprintf("the calls that the toolhost at %s holds are missing: %s", at.Addr(), err)
}

// eachInboxPage is InboxPage for several toolhosts.
func (c *Client) eachInboxPage(ctx context.Context, query InboxQuery) (InboxPage, error) {
	nodes, err := c.inboxes(ctx)
	if err != nil {
		return InboxPage{}, err
	}
	list := func(at *link.Link, query InboxQuery) (InboxPage, error) {
		return inboxPage(ctx, at, &decisionv1.ListDecisionsRequest{OnBehalfOf: onBehalfOf(ctx)}, query)
	}
	first, positions := query.PageToken == "", inboxPositions{}
	addr, token, _ := strings.Cut(query.PageToken, " ")
	var page InboxPage
	for i, n := range nodes {
		if n.Addr() < addr {
			continue
		}
		ask := query
		if ask.PageToken = ""; n.Addr() == addr {
			ask.PageToken = token
		}
		have := len(page.Decisions) > 0 || page.NextPageToken != ""
		if have && !first {
			break
		}
		if have {
			ask.PageSize = 1 // for its position
		}
		part, err := list(n, ask)
		switch {
		case err == nil:
		case tool.KindOf(err) == tool.KindUnavailable:
			page.Unavailable = append(page.Unavailable, missing(n, err))
			continue
		default:
			return InboxPage{}, err
		}
		positions[n.Addr()] = part.Position
		page.Unavailable = append(page.Unavailable, part.Unavailable...)
		switch {
		case have:
			page.NextPageToken = cmp.Or(page.NextPageToken, n.Addr()+" ")
		case part.NextPageToken != "":
			page.Decisions, page.NextPageToken = part.Decisions, n.Addr()+" "+part.NextPageToken
		default:
			page.Decisions = part.Decisions
			if len(page.Decisions) > 0 && i+1 < len(nodes) {
				page.NextPageToken = nodes[i+1].Addr() + " "
			}
		}
	}
	if first {
		page.Position = positions.String()
	}
	return page, nil
}

// nodeChange is an element of the watch of one of several toolhosts.
type nodeChange struct {
	from   *link.Link
	change InboxChange
	err    error
}

// watchEachInbox is WatchInbox for several toolhosts.
func (c *Client) watchEachInbox(ctx context.Context, watch InboxWatch) iter.Seq2[InboxChange, error] {
	return func(yield func(InboxChange, error) bool) {
		positions, err := parsePositions(watch.Position)
		for err == nil {
			if err = c.watchInboxes(ctx, watch.InboxFilter, positions, yield); errors.Is(err, errForgotten) {
				positions, err = inboxPositions{}, nil
			}
		}
		if !errors.Is(err, errLeft) {
			yield(InboxChange{}, err)
		}
	}
}

var (
	// errForgotten says that a toolhost sends its whole state again, such as after its restart. The
	// reader cannot forget the state of one toolhost alone, so it gets that of all again.
	errForgotten = errors.New("a toolhost begins again")
	errLeft      = errors.New("the reader has left")
)

// watchInboxes yields the changes of all toolhosts until an error.
func (c *Client) watchInboxes(ctx context.Context, filter InboxFilter, positions inboxPositions, yield func(InboxChange, error) bool) error {
	nodes, err := c.inboxes(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var watches sync.WaitGroup
	defer watches.Wait()
	defer cancel()
	changes := make(chan nodeChange)
	for _, n := range nodes {
		at := positions[n.Addr()]
		watches.Go(func() { c.watchInboxOf(ctx, n, filter, at, changes) }) // ends with ctx
	}
	m := inboxMerge{positions: positions, nodes: len(nodes), begun: map[*link.Link]bool{}, known: map[*link.Link]bool{}, absent: map[*link.Link]string{}}
	if len(positions) == 0 && !yield(InboxChange{Restart: true}, nil) {
		return errLeft
	}
	for {
		select {
		case next := <-changes:
			merged, err := m.add(next)
			if err != nil {
				return err
			}
			if !yield(merged, nil) {
				return errLeft
			}
		case <-ctx.Done():
			return tool.AsError(ctx.Err())
		}
	}
}

// watchInboxOf watches one toolhost, again after each error, until ctx ends. It passes the errors
// on, and watchInboxes ends ctx if one of them is final.
func (c *Client) watchInboxOf(ctx context.Context, at *link.Link, filter InboxFilter, position string, to chan<- nodeChange) {
	for ctx.Err() == nil {
		request := &decisionv1.WatchDecisionsRequest{Tenants: filter.Tenants, Position: position, OnBehalfOf: onBehalfOf(ctx)}
		for change, err := range watchInbox(ctx, at, request) {
			if change.Position != "" {
				position = change.Position
			}
			select {
			case to <- nodeChange{at, change, err}:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-time.After(inboxRetry):
		case <-ctx.Done():
		}
	}
}

// inboxMerge merges the watches of several toolhosts.
type inboxMerge struct {
	positions inboxPositions
	nodes     int
	begun     map[*link.Link]bool   // of whose state the reader knows at least a part
	known     map[*link.Link]bool   // whose whole state the reader knows
	absent    map[*link.Link]string // why the calls of a toolhost are missing
}

// add returns what the reader gets for a change.
func (m *inboxMerge) add(next nodeChange) (InboxChange, error) {
	change, addr := next.change, next.from.Addr()
	switch {
	case tool.KindOf(next.err) == tool.KindUnavailable:
		m.absent[next.from] = missing(next.from, next.err)
		change = InboxChange{}
	case next.err != nil:
		return InboxChange{}, next.err
	case change.Restart && (m.begun[next.from] || m.positions[addr] != ""):
		return InboxChange{}, errForgotten
	case change.Complete:
		m.known[next.from], m.positions[addr] = true, change.Position
		delete(m.absent, next.from)
	case change.Position != "":
		m.positions[addr] = change.Position
	}
	m.begun[next.from] = m.begun[next.from] || next.err == nil
	change.Restart, change.Complete, change.Position = false, false, ""
	whole := len(m.absent)
	for n := range m.known {
		if m.absent[n] == "" {
			whole++
		}
	}
	if whole == m.nodes {
		change.Complete, change.Position = true, m.positions.String()
		for _, why := range m.absent {
			change.Unavailable = append(change.Unavailable, why)
		}
		slices.Sort(change.Unavailable)
	}
	return change, nil
}
