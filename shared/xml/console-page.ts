import { escapeXml } from '../documents/text.ts';

/** Returns the HTML page for a browser that opened the API: it says what is there, and where the console is. */
export function consolePage(url: string): string {
  const text = escapeXml(url);
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Stillage</title></head>
<body>
<h1>Stillage</h1>
<p>This address is for S3 clients. The web console is at <a href="${text}">${text}</a>.</p>
</body>
</html>
`;
}
