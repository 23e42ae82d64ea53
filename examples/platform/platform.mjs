// A platform that gives each customer a bucket, a key, a quota and a bill: README.md in this folder.
import { createServer } from 'node:http';
import { operator, Refused } from './administration.mjs';
import { Customer } from './customer.mjs';

const { S3_ENDPOINT, ADMIN_ENDPOINT, ADMIN_TOKEN_FILE, REGION = 'us-east-1', PORT = '8080' } = process.env;
const administer = operator(ADMIN_ENDPOINT, ADMIN_TOKEN_FILE);

/** The programs of customers, which would run elsewhere. A real platform keeps no secrets: it shows them once. */
const customers = new Map();

/** Makes what a customer needs. Each step has a key of its own, so a sign-up that broke off can be sent again. */
async function signUp(name, origin) {
  const project = `files@${name}`;
  const user = `files:app@${name}`;
  const once = (command, given) => administer(command, given, `sign-up ${name} ${command}`.replaceAll(' ', '-'));
  await once('customer create', { customer: name });
  await once('project create', { project });
  await once('quota set project', { project, buckets: 3 });
  await once('user create', { user });
  const { accessKeyId, secretAccessKey } = await once('key create', { user });
  const bucket = `${name}-files`;
  const customer = new Customer(S3_ENDPOINT, REGION, bucket, { accessKeyId, secretAccessKey });
  await customer.setUp(origin);
  await administer('quota set bucket', { bucket, bytes: 10 * 1024 ** 3 });
  customers.set(name, customer);
  return { project, bucket, accessKeyId };
}

/** The requests and bytes of the month so far. Prices are the platform's affair. */
async function bill(name) {
  const { month, days } = await administer('usage', { project: `files@${name}` });
  return { customer: name, month, days };
}

const page = `<!doctype html><meta charset="utf-8"><title>Upload</title>
<input type="file"><p role="status"></p>
<script type="module">
  const [customer, visitor] = [new URLSearchParams(location.search).get('customer'), crypto.randomUUID()];
  document.querySelector('input').onchange = async ({ target: { files: [file] } }) => {
    const query = new URLSearchParams({ customer, visitor, name: file.name });
    const { url } = await (await fetch('/upload-url?' + query, { method: 'POST' })).json();
    const { ok } = await fetch(url, { method: 'PUT', body: file });
    document.querySelector('p').textContent = ok ? 'Uploaded.' : 'The upload was refused.';
  };
</script>`;

const nameOf = (text) => {
  if (/^[a-z][a-z0-9-]{1,40}$/.test(text ?? '')) return text;
  throw new Refused({ status: 400, detail: 'A name has 2 to 41 small letters, digits and hyphens.' });
};

const routes = {
  'GET /': () => page,
  'POST /sign-up': (query, origin) => signUp(nameOf(query.get('customer')), origin),
  'POST /upload-url': async (query) => {
    const customer = customers.get(query.get('customer'));
    if (customer === undefined) throw new Refused({ status: 404, detail: 'There is no such customer.' });
    return { url: await customer.uploadUrl(nameOf(query.get('visitor')), query.get('name') ?? 'file') };
  },
  'POST /suspend': (query) => administer('customer suspend', { customer: nameOf(query.get('customer')) }),
  'GET /bill': (query) => bill(nameOf(query.get('customer'))),
};

const server = createServer((request, response) => {
  const origin = `http://${request.headers.host}`;
  const { pathname, searchParams } = new URL(request.url, origin);
  const answer = (status, body) => {
    const isPage = typeof body === 'string';
    response.writeHead(status, { 'content-type': isPage ? 'text/html' : 'application/json' });
    response.end(isPage ? body : JSON.stringify(body));
  };
  const route = routes[`${request.method} ${pathname}`];
  if (route === undefined) return answer(404, { detail: 'Nothing is here.' });
  Promise.resolve()
    .then(() => route(searchParams, origin))
    .then(
      (body) => answer(200, body ?? {}),
      (error) => {
        if (!(error instanceof Refused)) console.error(error);
        answer(error instanceof Refused ? error.status : 500, {
          detail: error instanceof Refused ? error.message : 'See the log.',
        });
      },
    );
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
