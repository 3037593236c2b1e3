package client

import agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"

// Attachment is a file for the model of a run. The agentd takes its content when it accepts the
// prompt or the message. A prompt or a message has at most 20 attachments with 12 MiB in total; a
// run has at most 100 with 20 MiB.
type Attachment struct {
	// Name is the name of the file, without folders. The model may see it. Empty: none.
	Name string
	// MIMEType is the type that the caller expects. The agentd determines the type from the content,
	// and refuses a contradiction. Empty: any.
	MIMEType string
	// Data is the content, at most 10 MiB. Text must be UTF-8. It must be empty if Artifact is set.
	Data []byte
	// Artifact is the handle of an artifact of toolhost that the principal of the run may read.
	// Session is the session of the call that returned it; empty means that of the run.
	Artifact, Session string
}

// AttachmentInfo describes an attachment of a prompt or a message.
type AttachmentInfo struct {
	Name     string // may be empty
	MIMEType string // of the content
	Size     uint64 // of the content, in bytes
	SHA256   string // of the content, in lower-case hexadecimal
	Artifact string // the handle that the content was read from; empty: the caller sent it
}

func fromAttachments(list []Attachment) (messages []*agentdv1.Attachment) {
	for i := range list {
		a := &list[i]
		m := &agentdv1.Attachment{Name: a.Name, MimeType: a.MIMEType, Content: &agentdv1.Attachment_Data{Data: a.Data}}
		if a.Artifact != "" {
			m.Content = &agentdv1.Attachment_Artifact{Artifact: &agentdv1.ArtifactSource{Handle: a.Artifact, Session: a.Session}}
		}
		messages = append(messages, m)
	}
	return messages
}

func toAttachmentInfos(messages []*agentdv1.AttachmentInfo) (infos []AttachmentInfo) {
	for _, m := range messages {
		infos = append(infos, AttachmentInfo{Name: m.GetName(), MIMEType: m.GetMimeType(), Size: m.GetSize(), SHA256: m.GetSha256(), Artifact: m.GetArtifact()})
	}
	return infos
}
