package agentserver

import (
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// toNewAttachments returns the attachments of a request.
func toNewAttachments(list []*agentdv1.Attachment) (files []loop.NewAttachment) {
	for _, m := range list {
		f := loop.NewAttachment{Name: m.GetName(), MIMEType: m.GetMimeType(), Data: m.GetData()}
		f.Artifact, f.Session = m.GetArtifact().GetHandle(), m.GetArtifact().GetSession()
		files = append(files, f)
	}
	return files
}

func fromAttachments(list []loop.Attachment) (infos []*agentdv1.AttachmentInfo) {
	for i := range list {
		a := &list[i]
		infos = append(infos, &agentdv1.AttachmentInfo{Name: a.Name, MimeType: a.MIMEType, Size: uint64(a.Size), Sha256: a.SHA256, Artifact: a.Artifact})
	}
	return infos
}
