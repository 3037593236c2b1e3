package agentserver

import (
	"time"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/tool"
)

// maxIntake is how many bytes of attachments the requests of one principal may have at the same
// time, until the journal has them. It has room for five requests of the largest size.
const maxIntake = 64 << 20

// intake counts the attachments of a request for a principal, and returns an error if the requests
// of the principal have too many. The caller must call free once. A request waits for the disk and
// for the requests before it, so without the bound a principal could make agentd hold gigabytes.
func (s *service) intake(principal string, list []*agentdv1.Attachment) (free func(), err error) {
	n := int64(0)
	for _, a := range list {
		n += int64(len(a.GetData()))
	}
	if n == 0 {
		return func() {}, nil
	}
	held, ok := s.incoming.take(principal, n)
	if !ok {
		err := tool.Errorf(tool.KindRateLimited, "the requests of this principal at the moment have %d bytes of attachments, and this one has %d; they may have %d together; wait for the others", held, n, maxIntake)
		err.RetryAfter = time.Second
		return nil, err
	}
	return func() { s.incoming.give(principal, n) }, nil
}
