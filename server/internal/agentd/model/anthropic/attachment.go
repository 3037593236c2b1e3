package anthropic

import (
	"encoding/base64"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

var _ model.Featured = (*Model)(nil)

var (
	imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	textTypes  = []string{"text/*", "application/json", "application/xml", "application/yaml"}
)

const pdfType = "application/pdf"

// Features implements model.Featured.
func (m *Model) Features() model.Features {
	return model.Features{Schema: m.generation.schemas, Attachments: slices.Concat(imageTypes, textTypes, []string{pdfType})}
}

// attachment returns the block for an attachment of one of the types in Features: an image, or a
// document with its name as title. The API refuses a blank document, so the model reads that the
// file is blank.
func attachment(from *model.Attachment) sdk.ContentBlockParamUnion {
	kind, _, _ := strings.Cut(from.MIMEType, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	var block sdk.ContentBlockParamUnion
	switch {
	case slices.Contains(imageTypes, kind):
		return sdk.NewImageBlockBase64(kind, base64.StdEncoding.EncodeToString(from.Data))
	case kind == pdfType:
		block = sdk.NewDocumentBlock(sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(from.Data)})
	default:
		text := strings.ToValidUTF8(string(from.Data), "\uFFFD")
		if strings.TrimSpace(text) == "" {
			return sdk.NewTextBlock("[The attached file " + strings.TrimSpace(from.Name+" "+kind) + " is blank.]")
		}
		block = sdk.NewDocumentBlock(sdk.PlainTextSourceParam{Data: text})
	}
	if from.Name != "" {
		block.OfDocument.Title = sdk.String(from.Name)
	}
	return block
}
