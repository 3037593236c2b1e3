package main

import (
	"net/url"
	"strings"
	"testing"
)

// A cell of several lines, a cell that spans others, and a table that cannot be a Markdown table
// leave every cell readable, and apart from its neighbors.
func TestTables(t *testing.T) {
	for _, test := range []struct{ name, source, html, want string }{
		{"a line break and a bar", "JohannesKaufmann/html-to-markdown#204",
			"<table><tr><th>Opt</th><th>Meaning</th></tr><tr><td><code>a|b</code></td><td>one<br>two</td></tr></table>",
			"| Opt | Meaning |\n|---|---|\n| `a\\|b` | one<br>two |"},
		{"a wide cell, a list and code", "google-gemini/gemini-cli#29360",
			"<table><tr><th>Opt</th><th>Meaning</th></tr><tr><td colspan=2>wide</td></tr><tr><td><ul><li>x</li><li>y</li></ul></td><td><pre>p\nq</pre></td></tr></table>",
			"| Opt | Meaning |\n|---|---|\n| wide |  |\n| x<br>y | `p`<br>`q` |"},
		{"cells that cover others", "",
			"<table><tr><th>A<th>B<th>C<tr><td rowspan=2>a<td colspan=2>bc<tr><td>b2<td>c2<tr><td colspan=2>ab<td rowspan=9>c</table>",
			"| A | B | C |\n|---|---|---|\n| a | bc |  |\n|  | b2 | c2 |\n| ab |  | c |"},
		{"all kinds of blocks", "",
			"<table><tr><td><p>p1</p><p>p2</p><td><h3>h</h3><dl><dt>t<dd>d</dl><td><blockquote>q</blockquote>z<hr>w<td><details><summary>s</summary>t</details></table>",
			"|  |  |  |  |\n|---|---|---|---|\n| p1<br>p2 | **h**<br>t<br>d | q<br>z<br>w | s<br>t |"},
		{"links and pictures", "",
			"<table><tr><th><a href='x|y' title='q\n|r'><div>k</div></a><th><img src=i|j alt='x|\ny'> a|b</table>",
			"| [k](http://h/x%7Cy \"q \\|r\") | ![x\\| y](http://h/i%7Cj) a\\|b |\n|---|---|"},
		{"headers of rows stay in their rows", "",
			"<table><caption><h2>cap</h2></caption><tr><td>1<td>2<tr><th>x<td>3</table>",
			"|  |  |\n|---|---|\n| 1 | 2 |\n| x | 3 |\n\n**cap**"},
		{"a table in a table", "", "<table><tr><td>a<td><table><tr><td>in1<td>in2</table><td>b</table>",
			"a\n\n|  |  |\n|---|---|\n| in1 | in2 |\n\nb"},
		{"layout", "", "<table role=presentation><tr><td>a<td>b</table>", "a\n\nb"},
		{"in emphasized text", "", "<b><table><tr><td>a<td>b</table></b>", "**a**\n\n**b**"},
		{"too many missing cells", "", "<table><tr>" + strings.Repeat("<td>a", 100) + strings.Repeat("<tr><td>b<td>c", 100) + "</table>",
			strings.TrimSpace(strings.Repeat("a ", 100)) + strings.Repeat("\n\nb c", 100)},
	} {
		t.Run(test.name, func(t *testing.T) {
			page, err := parse(test.html)
			if err != nil {
				t.Fatal(err)
			}
			got, err := page.markdown(&url.URL{Scheme: "http", Host: "h", Path: "/"})
			if got != test.want || err != nil {
				t.Errorf("%s: got %v\n%s\nwant\n%s", test.source, err, got, test.want)
			}
		})
	}
}
