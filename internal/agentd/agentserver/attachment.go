package agentserver

import (
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/agentd/loop"
	"github.com/toolhost/toolhost/internal/agentd/model"
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

// FromNewAttachments returns attachments for a request. It leaves out SHA256, which only sub-runs
// have.
func FromNewAttachments(files []loop.NewAttachment) (list []*agentdv1.Attachment) {
	for i := range files {
		f := &files[i]
		m := &agentdv1.Attachment{Name: f.Name, MimeType: f.MIMEType, Content: &agentdv1.Attachment_Data{Data: f.Data}}
		if f.Artifact != "" {
			m.Content = &agentdv1.Attachment_Artifact{Artifact: &agentdv1.ArtifactSource{Handle: f.Artifact, Session: f.Session}}
		}
		list = append(list, m)
	}
	return list
}

func fromAttachments(list []loop.Attachment) (infos []*agentdv1.AttachmentInfo) {
	for i := range list {
		a := &list[i]
		infos = append(infos, &agentdv1.AttachmentInfo{Name: a.Name, MimeType: a.MIMEType, Size: uint64(a.Size), Sha256: a.SHA256, Artifact: a.Artifact})
	}
	return infos
}

func toAttachments(infos []*agentdv1.AttachmentInfo) (list []loop.Attachment) {
	for _, m := range infos {
		list = append(list, loop.Attachment{
			Attachment: model.Attachment{Name: m.GetName(), MIMEType: m.GetMimeType(), Size: int(m.GetSize()), SHA256: m.GetSha256()}, Artifact: m.GetArtifact(),
		})
	}
	return list
}
