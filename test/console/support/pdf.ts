/** Returns a PDF of one page with a line of text. With a script, it asks its reader to run that when it is opened, and links to it. */
export function pdfOf(text: string, script?: string): Buffer {
  const escaped = (value: string): string => value.replace(/[\\()]/g, '\\$&');
  const stream = `BT /F1 24 Tf 20 100 Td (${escaped(text)}) Tj ET`;
  const action = script === undefined ? '' : ` /OpenAction << /S /JavaScript /JS (${escaped(script)}) >>`;
  const link =
    script === undefined
      ? ''
      : ` /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 400 200] /A << /S /URI /URI (javascript:${escaped(script)}) >> >>]`;
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R${action} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>${link} >>`,
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return String(offset).padStart(10, '0');
  });
  const entries = offsets.map((offset) => `${offset} 00000 n \n`).join('');
  const xref = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(body + xref + trailer, 'latin1');
}
