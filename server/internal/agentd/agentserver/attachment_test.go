package agentserver_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// A prompt and a message arrive with their attachments, as the caller sent them. Who the caller is,
// and which run a digest would name, does not follow from a request.
func TestAttachmentsArrive(t *testing.T) {
	files := []loop.NewAttachment{
		{Name: "a.txt", MIMEType: "text/plain", Data: []byte("hello")}, {Name: "b", Artifact: "h", Session: "s"}, {Name: "empty", Data: []byte{}},
	}
	fake := &fakeAgent{}
	c := dialClient(t, fake)
	sent := []client.Attachment{
		{Name: "a.txt", MIMEType: "text/plain", Data: []byte("hello")}, {Name: "b", Artifact: "h", Session: "s"}, {Name: "empty", Data: []byte{}},
	}
	if _, err := c.StartRun(t.Context(), client.Task{Prompt: "p", RunID: "r", Attachments: sent}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, fake.task.Attachments); diff != "" {
		t.Errorf("of the prompt (-want +got):\n%s", diff)
	}
	if _, err := c.SendMessage(t.Context(), "r", "t", sent...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, fake.files); diff != "" {
		t.Errorf("of the message (-want +got):\n%s", diff)
	}
}

// busyAgent takes its time to start runs.
type busyAgent struct {
	*fakeAgent
	began  chan struct{}
	finish chan struct{}
}

func (b *busyAgent) StartRun(context.Context, loop.Task) (string, error) {
	b.began <- struct{}{}
	<-b.finish
	return "r", nil
}

// A principal cannot make agentd hold any number of attachments by requests at the same time.
func TestAttachmentsOfRequestsAtOnce(t *testing.T) {
	busy := &busyAgent{&fakeAgent{}, make(chan struct{}), make(chan struct{})}
	_, conn := dial(t, busy)
	client := agentdv1.NewAgentServiceClient(conn)
	request := &agentdv1.StartRunRequest{Prompt: "p", Attachments: []*agentdv1.Attachment{{Content: &agentdv1.Attachment_Data{Data: make([]byte, 12<<20)}}}}
	var group sync.WaitGroup
	start := func() {
		group.Go(func() {
			if _, err := client.StartRun(t.Context(), request); err != nil {
				t.Error(err)
			}
		})
		<-busy.began
	}
	for range 5 {
		start()
	}
	_, err := client.StartRun(t.Context(), request)
	if e := kindOf(err); e != tool.KindRateLimited {
		t.Errorf("the sixth request: %v", err)
	}
	_, err = client.SendMessage(t.Context(), &agentdv1.SendMessageRequest{RunId: "r", Text: "t", Attachments: request.GetAttachments()})
	if e := kindOf(err); e != tool.KindRateLimited {
		t.Errorf("a message: %v", err)
	}
	if _, err := client.SendMessage(t.Context(), &agentdv1.SendMessageRequest{RunId: "r", Text: "t"}); err != nil {
		t.Errorf("a message without attachments: %v", err)
	}
	busy.finish <- struct{}{}
	for {
		// There is room when the handler of a request has ended, which the test does not see.
		if _, err = client.SendMessage(t.Context(), &agentdv1.SendMessageRequest{RunId: "r", Text: "t", Attachments: request.GetAttachments()}); kindOf(err) != tool.KindRateLimited {
			break
		}
	}
	if err != nil {
		t.Error(err)
	}
	close(busy.finish)
	group.Wait()
}

// The agent never sees a request with more attachments than anything could use.
func TestTooManyAttachmentsDoNotArrive(t *testing.T) {
	f := &fakeAgent{}
	_, conn := dial(t, f)
	list := make([]*agentdv1.Attachment, 100_001)
	for i := range list {
		list[i] = &agentdv1.Attachment{}
	}
	_, err := agentdv1.NewAgentServiceClient(conn).StartRun(t.Context(), &agentdv1.StartRunRequest{Prompt: "hello", Attachments: list})
	if err == nil || !strings.Contains(err.Error(), "too many elements") || f.task.Attachments != nil {
		t.Errorf("%v; the agent got %d attachments", err, len(f.task.Attachments))
	}
}
