package wire

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

var (
	imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	textTypes  = []string{"text/*", "application/json", "application/xml", "application/yaml"}
)

const pdfType = "application/pdf"

// AttachmentTypes returns the MIME types of attachments, as model.Features has them. pdf says
// whether the server reads PDF files.
func AttachmentTypes(pdf bool) []string {
	types := slices.Concat(imageTypes, textTypes)
	if pdf {
		types = append(types, pdfType)
	}
	return types
}

// IsImage reports whether both APIs accept images of a MIME type.
func IsImage(mimeType string) bool { return slices.Contains(imageTypes, bare(mimeType)) }

// IsPDF reports whether a MIME type is that of a PDF.
func IsPDF(mimeType string) bool { return bare(mimeType) == pdfType }

// bare returns a MIME type without its parameters, in lower case.
func bare(mimeType string) string {
	kind, _, _ := strings.Cut(mimeType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// DataURL returns content as a URL. The APIs accept files in this form.
func DataURL(mimeType string, data []byte) string {
	return "data:" + bare(mimeType) + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// FileName returns the name of an attachment. A PDF needs a name, and the model reads it.
func FileName(a *model.Attachment) string {
	if a.Name == "" {
		return "document.pdf"
	}
	return strings.ToValidUTF8(a.Name, "\uFFFD")
}

// TextFile returns an attached text with a line that names it.
func TextFile(a *model.Attachment) string {
	named := "The user attached a file of the type " + bare(a.MIMEType)
	if a.Name != "" {
		named += fmt.Sprintf(" with the name %q", a.Name)
	}
	return named + ":\n\n" + strings.ToValidUTF8(string(a.Data), "\uFFFD")
}
