import { describe, expect, it } from 'vitest';
import { putBucketWebsite } from '../../../functions/bucket/bucket-website.ts';
import { website as websiteType } from '../../../shared/documents/website.ts';
import { readDocument } from '../../../shared/xml/reader.ts';
import { bodyReader } from './document-readers.ts';
import { codeOf, golden, namespace } from '../xml/golden.ts';

const documentOf = (inner: string) => `<WebsiteConfiguration>${inner}</WebsiteConfiguration>`;
const read = (inner: string) => readDocument(documentOf(inner), websiteType);
const index = '<IndexDocument><Suffix>index.html</Suffix></IndexDocument>';
const rule = (redirect: string, condition = ''): string =>
  `<RoutingRule>${condition}<Redirect>${redirect}</Redirect></RoutingRule>`;
const withRules = (...rules: string[]) => `${index}<RoutingRules>${rules.join('')}</RoutingRules>`;
const host = '<HostName>b.example</HostName>';

const pages = golden`
  <WebsiteConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
    <IndexDocument><Suffix>index.html</Suffix></IndexDocument>
    <ErrorDocument><Key>errors/404.html</Key></ErrorDocument>
    <RoutingRules>
      <RoutingRule>
        <Condition><KeyPrefixEquals>docs/</KeyPrefixEquals><HttpErrorCodeReturnedEquals>404</HttpErrorCodeReturnedEquals></Condition>
        <Redirect>
          <Protocol>https</Protocol><HostName>b.example:8443</HostName>
          <ReplaceKeyPrefixWith>documents/</ReplaceKeyPrefixWith><HttpRedirectCode>302</HttpRedirectCode>
        </Redirect>
      </RoutingRule>
      <RoutingRule><Redirect><ReplaceKeyWith>away.html</ReplaceKeyWith></Redirect></RoutingRule>
    </RoutingRules>
  </WebsiteConfiguration>`;

const elsewhere = golden`
  <WebsiteConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
    <RedirectAllRequestsTo><HostName>www.b.example</HostName><Protocol>https</Protocol></RedirectAllRequestsTo>
  </WebsiteConfiguration>`;

describe('WebsiteConfiguration', () => {
  it('of pages is read, and written as it was', () => {
    const website = readDocument(pages, websiteType);
    expect(website).toEqual({
      index: 'index.html',
      error: 'errors/404.html',
      rules: [
        {
          prefix: 'docs/',
          errorCode: 404,
          redirect: { protocol: 'https', host: 'b.example:8443', replacePrefix: 'documents/', code: 302 },
        },
        { redirect: { replaceKey: 'away.html' } },
      ],
    });
    expect(websiteType.write(website, namespace)).toBe(pages);
    expect(read(index)).toEqual({ index: 'index.html', rules: [] });
  });

  it('of a redirect is read, and written as it was', () => {
    const website = readDocument(elsewhere, websiteType);
    expect(website).toEqual({ redirectAll: { host: 'www.b.example', protocol: 'https' } });
    expect(websiteType.write(website, namespace)).toBe(elsewhere);
    expect(read(`<RedirectAllRequestsTo>${host}</RedirectAllRequestsTo>`)).toEqual({
      redirectAll: { host: 'b.example' },
    });
  });

  it('has up to 50 rules', async () => {
    const readBody = bodyReader(putBucketWebsite);
    const ofRules = (count: number) => documentOf(withRules(rule(host).repeat(count)));
    expect(await readBody(ofRules(50))).toMatchObject({ rules: { length: 50 } });
    await expect(readBody(ofRules(51))).rejects.toMatchObject({ code: 'InvalidRequest' });
  });

  it.each([
    ['an unknown element', `${index}<Other/>`],
    ['two indexes', index + index],
    ['an index without a suffix', '<IndexDocument/>'],
    ['an error document without a key', `${index}<ErrorDocument/>`],
    ['no rule in the rules', withRules()],
    ['a rule without a redirect', withRules('<RoutingRule/>')],
    ['a redirect to nowhere', withRules(rule(''))],
    ['an unknown part of a redirect', withRules(rule('<Path>a</Path>'))],
    ['an unknown condition', withRules(rule(host, '<Condition><Method>GET</Method></Condition>'))],
    ['a redirect of everything to no host', '<RedirectAllRequestsTo/>'],
  ])('%s → MalformedXML', (_, inner) => {
    expect(codeOf(() => read(inner))).toBe('MalformedXML');
  });

  const redirectAll = `<RedirectAllRequestsTo>${host}</RedirectAllRequestsTo>`;

  it.each([
    ['nothing', ''],
    ['an error document alone', '<ErrorDocument><Key>404.html</Key></ErrorDocument>'],
    ['an empty suffix', '<IndexDocument><Suffix/></IndexDocument>'],
    ['a slash in the suffix', '<IndexDocument><Suffix>a/index.html</Suffix></IndexDocument>'],
    ['an empty error key', `${index}<ErrorDocument><Key/></ErrorDocument>`],
    ['an error key that no object has', `${index}<ErrorDocument><Key>${'k'.repeat(1025)}</Key></ErrorDocument>`],
    ['a redirect of everything, and an index', index + redirectAll],
    ['a redirect of everything, and rules', `${redirectAll}<RoutingRules>${rule(host)}</RoutingRules>`],
  ])('%s → InvalidArgument', (_, inner) => {
    expect(codeOf(() => read(inner))).toBe('InvalidArgument');
  });

  it('says what is missing in the words of S3', () => {
    expect(() => read('')).toThrow(
      'A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty',
    );
    expect(() => read('<IndexDocument><Suffix/></IndexDocument>')).toThrow(
      'The IndexDocument Suffix is not well formed',
    );
  });

  it.each([
    ['both replacements', '<ReplaceKeyPrefixWith>a</ReplaceKeyPrefixWith><ReplaceKeyWith>b</ReplaceKeyWith>'],
    ['status 200', `${host}<HttpRedirectCode>200</HttpRedirectCode>`],
    ['status 300', `${host}<HttpRedirectCode>300</HttpRedirectCode>`],
    ['status 3011', `${host}<HttpRedirectCode>3011</HttpRedirectCode>`],
    ['a script', '<Protocol>javascript</Protocol>'],
    ['a protocol in capitals', '<Protocol>HTTP</Protocol>'],
    ['a host with a path', '<HostName>b.example/path</HostName>'],
    ['a host with a scheme', '<HostName>https://b.example</HostName>'],
    ['a host with a user', '<HostName>a@b.example</HostName>'],
    ['an empty host', '<HostName/>'],
    ['a host with a line feed', '<HostName>b.example&#13;&#10;Set-Cookie: a=b</HostName>'],
    ['a key with a line feed', '<ReplaceKeyWith>a&#13;&#10;Set-Cookie: a=b</ReplaceKeyWith>'],
    ['a prefix with a line feed', '<ReplaceKeyPrefixWith>a&#10;b</ReplaceKeyPrefixWith>'],
  ])('a redirect with %s → InvalidRequest', (_, redirect) => {
    expect(codeOf(() => read(withRules(rule(redirect))))).toBe('InvalidRequest');
  });

  it.each([
    ['empty', ''],
    ['of a success', '<HttpErrorCodeReturnedEquals>200</HttpErrorCodeReturnedEquals>'],
    ['of no status', '<HttpErrorCodeReturnedEquals>NoSuchKey</HttpErrorCodeReturnedEquals>'],
    ['with a control character', '<KeyPrefixEquals>a&#9;b</KeyPrefixEquals>'],
  ])('a condition that is %s → InvalidRequest', (_, condition) => {
    expect(codeOf(() => read(withRules(rule(host, `<Condition>${condition}</Condition>`))))).toBe('InvalidRequest');
  });

  it('control characters in the names of documents → InvalidRequest', () => {
    expect(codeOf(() => read('<IndexDocument><Suffix>a&#10;b</Suffix></IndexDocument>'))).toBe('InvalidRequest');
    expect(codeOf(() => read(`${index}<ErrorDocument><Key>a&#10;b</Key></ErrorDocument>`))).toBe('InvalidRequest');
  });
});
