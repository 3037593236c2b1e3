// Package shares finds which of many owners has most of something bounded, such as memory or rows,
// so that the owner with the most is the first to lose something. An owner that has less than an
// equal share then loses nothing, whatever the others do.
package shares

import "container/heap"

// Shares has the amount of each owner. The zero value is empty. It is not safe for concurrent use.
type Shares struct {
	owners map[string]*share
	order  byAmount
}

type share struct {
	owner  string
	amount int64
	place  int // in order
}

// Add changes the amount of an owner, in logarithmic time. An owner whose amount becomes 0 is
// forgotten. Amounts must not become negative.
func (s *Shares) Add(owner string, amount int64) {
	one := s.owners[owner]
	if one == nil {
		if s.owners == nil {
			s.owners = map[string]*share{}
		}
		one = &share{owner: owner}
		s.owners[owner] = one
		heap.Push(&s.order, one)
	}
	one.amount += amount
	if one.amount == 0 {
		heap.Remove(&s.order, one.place)
		delete(s.owners, owner)
		return
	}
	heap.Fix(&s.order, one.place)
}

// Of returns the amount of an owner.
func (s *Shares) Of(owner string) int64 {
	if one := s.owners[owner]; one != nil {
		return one.amount
	}
	return 0
}

// Largest returns the owner with the largest amount, the first by name of several; empty: no owner
// has anything.
func (s *Shares) Largest() string {
	if len(s.order) == 0 {
		return ""
	}
	return s.order[0].owner
}

// byAmount implements heap.Interface. The owner with the largest amount is first.
type byAmount []*share

func (h byAmount) Len() int { return len(h) }

func (h byAmount) Less(i, j int) bool {
	if h[i].amount != h[j].amount {
		return h[i].amount > h[j].amount
	}
	return h[i].owner < h[j].owner
}

func (h byAmount) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *byAmount) Push(x any) {
	one := x.(*share)
	one.place = len(*h)
	*h = append(*h, one)
}

func (h *byAmount) Pop() any {
	last := len(*h) - 1
	one := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return one
}
