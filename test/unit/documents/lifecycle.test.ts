import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLifecycle } from '../../../functions/bucket/bucket-lifecycle.ts';
import { lifecycle, type LifecycleRule, type LifecycleScope } from '../../../shared/documents/lifecycle.ts';
import { EventLoopBudget } from '../../../shared/ports/event-loop.ts';
import { defaultLimits } from '../../../shared/protocol/limits.ts';
import { runs } from '../../support/runs/runs.ts';
import { golden, namespace } from '../xml/golden.ts';

const readText = (text: string, budget = new EventLoopBudget()) => readLifecycle(text, defaultLimits, budget);
const read = (...rules: string[]): Promise<readonly LifecycleRule[]> =>
  readText(`<LifecycleConfiguration xmlns="${namespace}">${rules.join('')}</LifecycleConfiguration>`);
const days = '<Expiration><Days>30</Days></Expiration>';
const rule = (inner: string, { id = '<ID>r</ID>', filter = '<Filter/>', status = 'Enabled' } = {}): string =>
  `<Rule>${id}${filter}<Status>${status}</Status>${inner}</Rule>`;
const filtered = (filter: string, action = days): string => rule(action, { filter: `<Filter>${filter}</Filter>` });
const tag = (key: string, value = 'v'): string => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`;
const abort =
  '<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>';
const expiration = (inner: string): string => `<Expiration>${inner}</Expiration>`;
const noncurrent = (inner: string): string => `<NoncurrentVersionExpiration>${inner}</NoncurrentVersionExpiration>`;

describe('LifecycleConfiguration', () => {
  it('lets others have their turns while a thousand rules are read', async () => {
    let turns = 0;
    const budget = new EventLoopBudget(() => {
      turns += 1;
      return Promise.resolve();
    });
    const rules = Array.from({ length: 1000 }, (_, at) => rule(days, { id: '', filter: `<Prefix>${at}</Prefix>` }));
    const text = `<LifecycleConfiguration>${rules.join('')}</LifecycleConfiguration>`;
    expect(await readText(text, budget)).toEqual(await read(...rules));
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it('is read, every filter and every action', async () => {
    const scopes: readonly (readonly [string, LifecycleScope])[] = [
      ['<Prefix>logs/</Prefix>', { form: 'prefix', prefix: 'logs/' }],
      ['<Prefix/>', { form: 'prefix', prefix: '' }],
      ['<Filter/>', { form: 'filter' }],
      ['<Filter><Prefix/></Filter>', { form: 'filter', prefix: '' }],
      ['<Filter><Prefix>a&amp;b</Prefix></Filter>', { form: 'filter', prefix: 'a&b' }],
      [`<Filter>${tag('k', '')}</Filter>`, { form: 'filter', tags: [{ key: 'k', value: '' }] }],
      ['<Filter><ObjectSizeGreaterThan>0</ObjectSizeGreaterThan></Filter>', { form: 'filter', greaterThan: 0 }],
      ['<Filter><ObjectSizeLessThan>5</ObjectSizeLessThan></Filter>', { form: 'filter', lessThan: 5 }],
      ['<Filter><And><Prefix>p</Prefix></And></Filter>', { form: 'and', prefix: 'p' }],
      [
        `<Filter><And><Prefix>p</Prefix>${tag('a')}${tag('b')}<ObjectSizeGreaterThan>1</ObjectSizeGreaterThan>` +
          '<ObjectSizeLessThan>9</ObjectSizeLessThan></And></Filter>',
        {
          form: 'and',
          prefix: 'p',
          tags: [
            { key: 'a', value: 'v' },
            { key: 'b', value: 'v' },
          ],
          greaterThan: 1,
          lessThan: 9,
        },
      ],
    ];
    for (const [filter, scope] of scopes) {
      expect(await read(rule(days, { filter }))).toEqual([
        { id: 'r', status: 'Enabled', scope, expiration: { days: 30 } },
      ]);
    }
    const actions: readonly (readonly [string, Partial<LifecycleRule>])[] = [
      [expiration('<Date>2030-01-02T00:00:00Z</Date>'), { expiration: { date: Date.UTC(2030, 0, 2) } }],
      [expiration('<Date>2030-01-02</Date>'), { expiration: { date: Date.UTC(2030, 0, 2) } }],
      [expiration('<Date>2030-01-02T02:00:00+02:00</Date>'), { expiration: { date: Date.UTC(2030, 0, 2) } }],
      [
        expiration('<ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>'),
        { expiration: { expiredObjectDeleteMarker: true } },
      ],
      [noncurrent('<NoncurrentDays>3</NoncurrentDays>'), { noncurrent: { days: 3 } }],
      [
        noncurrent('<NewerNoncurrentVersions>100</NewerNoncurrentVersions><NoncurrentDays>3</NoncurrentDays>'),
        { noncurrent: { days: 3, newerVersions: 100 } },
      ],
      [abort, { abortDays: 7 }],
      [days + abort, { expiration: { days: 30 }, abortDays: 7 }],
    ];
    for (const [action, read_] of actions) {
      expect(await read(rule(action, { status: 'Disabled' }))).toEqual([
        { id: 'r', status: 'Disabled', scope: { form: 'filter' }, ...read_ },
      ]);
    }
  });

  it('is read with up to 1,000 rules, in order', async () => {
    const many = Array.from({ length: 1001 }, (_, at) => rule(days, { id: `<ID>${at}</ID>` }));
    expect((await read(...many.slice(0, 1000))).map(({ id }) => id)).toEqual(
      Array.from({ length: 1000 }, (_, at) => `${at}`),
    );
    await expect(read(...many)).rejects.toMatchObject({ code: 'MalformedXML' });
  });

  it('gets the ids it lacks, different ones, and the same ones again', async () => {
    const without = [rule(days, { id: '' }), rule(days, { id: '<ID/>' }), rule(days, { id: '' }), rule(days)];
    const ids = (await read(...without)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    expect(ids[3]).toBe('r');
    for (const id of ids) expect(id).toMatch(/^[\w-]{1,255}$/);
    expect((await read(...without)).map(({ id }) => id)).toEqual(ids);
    // A generated id, sent back, is taken as it is, and not given again.
    const again = (await read(rule(days, { id: '' }), rule(days, { id: `<ID>${ids[0]}</ID>` }))).map(({ id }) => id);
    expect(again[1]).toBe(ids[0]);
    expect(again[0]).not.toBe(ids[0]);
  });

  it('counts the characters of an id', async () => {
    expect(await read(rule(days, { id: `<ID>${'😀'.repeat(255)}</ID>` }))).toHaveLength(1);
    await expect(read(rule(days, { id: `<ID>${'i'.repeat(256)}</ID>` }))).rejects.toMatchObject({
      code: 'InvalidArgument',
    });
  });

  it.each([
    ['the same id twice', [rule(days), rule(abort)], 'InvalidArgument'],
    ['no rule', [], 'MalformedXML'],
    ['another element', ['<Other/>'], 'MalformedXML'],
    ['no status', [`<Rule><ID>r</ID><Filter/>${days}</Rule>`], 'MalformedXML'],
    ['status in capitals', [rule(days, { status: 'ENABLED' })], 'MalformedXML'],
    ['status in small letters', [rule(days, { status: 'enabled' })], 'MalformedXML'],
    ['an unknown element', [rule(`${days}<Color/>`)], 'MalformedXML'],
    ['neither filter nor prefix', [rule(days, { filter: '' })], 'MalformedXML'],
    ['filter and prefix', [rule(days, { filter: '<Filter/><Prefix/>' })], 'MalformedXML'],
    ['two filters', [rule(days, { filter: '<Filter/><Filter/>' })], 'MalformedXML'],
    ['a prefix beside And', [filtered(`<Prefix>p</Prefix><And>${tag('a')}</And>`)], 'MalformedXML'],
    ['two prefixes', [filtered('<Prefix>p</Prefix><Prefix>p</Prefix>')], 'MalformedXML'],
    ['a prefix and a tag without And', [filtered(`<Prefix>p</Prefix>${tag('a')}`)], 'MalformedXML'],
    ['an empty prefix and a tag without And', [filtered(`${tag('a')}<Prefix/>`)], 'MalformedXML'],
    [
      'a prefix and a size without And',
      [filtered(`<Prefix/><ObjectSizeLessThan>5</ObjectSizeLessThan>`)],
      'MalformedXML',
    ],
    [
      'two sizes without And',
      [filtered('<ObjectSizeGreaterThan>1</ObjectSizeGreaterThan><ObjectSizeLessThan>5</ObjectSizeLessThan>')],
      'MalformedXML',
    ],
    ['a text instead of conditions', [filtered('logs/')], 'MalformedXML'],
    ['a text instead of conditions in And', [filtered('<And>logs/</And>')], 'MalformedXML'],
    ['two tags without And', [filtered(tag('a') + tag('b'))], 'MalformedXML'],
    ['And beside a condition', [filtered(`<And>${tag('a')}</And><Prefix/>`)], 'MalformedXML'],
    ['an empty And', [filtered('<And/>')], 'MalformedXML'],
    ['And in And', [filtered('<And><And><Prefix/></And></And>')], 'MalformedXML'],
    ['two prefixes in And', [filtered('<And><Prefix/><Prefix/></And>')], 'MalformedXML'],
    ['an unknown condition', [filtered('<Color/>')], 'MalformedXML'],
    ['a tag without value', [filtered('<Tag><Key>k</Key></Tag>')], 'MalformedXML'],
    ['a tag twice', [filtered(`<And>${tag('a')}${tag('a', 'w')}</And>`)], 'InvalidTag'],
    ['a tag that no object can have', [filtered(tag('a!'))], 'InvalidTag'],
    ['a prefix of 1,025 bytes', [filtered(`<Prefix>${'p'.repeat(1025)}</Prefix>`)], 'InvalidRequest'],
    ['a size that is none', [filtered('<ObjectSizeLessThan>few</ObjectSizeLessThan>')], 'MalformedXML'],
    ['a size below 0', [filtered('<ObjectSizeGreaterThan>-1</ObjectSizeGreaterThan>')], 'InvalidRequest'],
    ['smaller than 0', [filtered('<ObjectSizeLessThan>0</ObjectSizeLessThan>')], 'InvalidRequest'],
    [
      'sizes that exclude each other',
      [
        filtered(
          '<And><ObjectSizeGreaterThan>9</ObjectSizeGreaterThan><ObjectSizeLessThan>9</ObjectSizeLessThan></And>',
        ),
      ],
      'InvalidRequest',
    ],
    ['no action', [rule('')], 'InvalidRequest'],
    ['an empty expiration', [rule('<Expiration/>')], 'MalformedXML'],
    ['days and date', [rule(expiration('<Days>1</Days><Date>2030-01-02</Date>'))], 'MalformedXML'],
    [
      'days and markers',
      [rule(expiration('<Days>1</Days><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>'))],
      'MalformedXML',
    ],
    [
      'date and markers',
      [rule(expiration('<Date>2030-01-02</Date><ExpiredObjectDeleteMarker>false</ExpiredObjectDeleteMarker>'))],
      'MalformedXML',
    ],
    ['0 days', [rule(expiration('<Days>0</Days>'))], 'InvalidArgument'],
    ['-1 days', [rule(expiration('<Days>-1</Days>'))], 'InvalidArgument'],
    ['half a day', [rule(expiration('<Days>0.5</Days>'))], 'MalformedXML'],
    ['more days than there are', [rule(expiration('<Days>2147483648</Days>'))], 'MalformedXML'],
    ['no days at all', [rule(expiration('<Days/>'))], 'MalformedXML'],
    ['a date at noon', [rule(expiration('<Date>2030-01-02T12:00:00Z</Date>'))], 'InvalidArgument'],
    ['midnight elsewhere', [rule(expiration('<Date>2030-01-02T00:00:00+02:00</Date>'))], 'InvalidArgument'],
    ['a date that is none', [rule(expiration('<Date>tomorrow</Date>'))], 'MalformedXML'],
    ['30 February', [rule(expiration('<Date>2030-02-30</Date>'))], 'MalformedXML'],
    [
      'markers that are neither true nor false',
      [rule(expiration('<ExpiredObjectDeleteMarker>yes</ExpiredObjectDeleteMarker>'))],
      'MalformedXML',
    ],
    ['0 non-current days', [rule(noncurrent('<NoncurrentDays>0</NoncurrentDays>'))], 'InvalidArgument'],
    ['no non-current days', [rule(noncurrent('<NewerNoncurrentVersions>1</NewerNoncurrentVersions>'))], 'MalformedXML'],
    ...['0', '101'].map(
      (count) =>
        [
          `${count} newer versions`,
          [
            rule(
              noncurrent(
                `<NoncurrentDays>1</NoncurrentDays><NewerNoncurrentVersions>${count}</NewerNoncurrentVersions>`,
              ),
            ),
          ],
          'InvalidArgument',
        ] as const,
    ),
    ['0 days for uploads', [rule(abort.replace('7', '0'))], 'InvalidArgument'],
    ['no days for uploads', [rule('<AbortIncompleteMultipartUpload/>')], 'MalformedXML'],
    [
      'markers by tag',
      [filtered(tag('a'), expiration('<ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>'))],
      'InvalidRequest',
    ],
    [
      'markers by size',
      [
        filtered(
          '<ObjectSizeLessThan>1</ObjectSizeLessThan>',
          expiration('<ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>'),
        ),
      ],
      'InvalidRequest',
    ],
    ['uploads by tag', [filtered(tag('a'), abort)], 'InvalidRequest'],
    ['uploads by size', [filtered('<ObjectSizeGreaterThan>1</ObjectSizeGreaterThan>', abort)], 'InvalidRequest'],
    [
      'a transition',
      [rule(`${days}<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>`)],
      'NotImplemented',
    ],
    [
      'a transition of non-current versions',
      [
        rule(
          '<NoncurrentVersionTransition><NoncurrentDays>1</NoncurrentDays>' +
            '<StorageClass>GLACIER</StorageClass></NoncurrentVersionTransition>',
        ),
      ],
      'NotImplemented',
    ],
  ] as readonly (readonly [string, readonly string[], string])[])('with %s is refused', async (_, rules, code) => {
    await expect(read(...rules)).rejects.toMatchObject({ code });
  });

  it('is written, in the order of S3', () => {
    const rules: readonly LifecycleRule[] = [
      {
        id: 'one & all',
        status: 'Enabled',
        scope: { form: 'prefix', prefix: 'logs/' },
        expiration: { date: Date.UTC(2030, 0, 2) },
      },
      {
        id: 'two',
        status: 'Disabled',
        scope: { form: 'and', prefix: '', tags: [{ key: 'k', value: 'v' }], greaterThan: 1, lessThan: 2 ** 40 },
        expiration: { days: 1 },
        noncurrent: { days: 2, newerVersions: 3 },
      },
      {
        id: 'three',
        status: 'Enabled',
        scope: { form: 'filter' },
        expiration: { expiredObjectDeleteMarker: false },
        abortDays: 7,
      },
    ];
    expect(lifecycle.write(rules, namespace)).toBe(golden`
      <LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Rule>
          <ID>one &amp; all</ID>
          <Prefix>logs/</Prefix>
          <Status>Enabled</Status>
          <Expiration><Date>2030-01-02T00:00:00.000Z</Date></Expiration>
        </Rule>
        <Rule>
          <ID>two</ID>
          <Filter>
            <And>
              <Prefix/>
              <Tag><Key>k</Key><Value>v</Value></Tag>
              <ObjectSizeGreaterThan>1</ObjectSizeGreaterThan>
              <ObjectSizeLessThan>1099511627776</ObjectSizeLessThan>
            </And>
          </Filter>
          <Status>Disabled</Status>
          <Expiration><Days>1</Days></Expiration>
          <NoncurrentVersionExpiration>
            <NoncurrentDays>2</NoncurrentDays>
            <NewerNoncurrentVersions>3</NewerNoncurrentVersions>
          </NoncurrentVersionExpiration>
        </Rule>
        <Rule>
          <ID>three</ID>
          <Filter/>
          <Status>Enabled</Status>
          <Expiration><ExpiredObjectDeleteMarker>false</ExpiredObjectDeleteMarker></Expiration>
          <AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>
        </Rule>
      </LifecycleConfiguration>`);
  });

  it('is read back as it was written', async () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'é', '&', '<', ' ', '/'), maxLength: 5 });
    const tags = fc.uniqueArray(fc.record({ key: fc.constantFrom('a', 'b', 'c'), value: fc.constantFrom('', 'v') }), {
      selector: ({ key }) => key,
      minLength: 1,
      maxLength: 3,
    });
    const scope = fc.oneof(
      word.map((prefix) => ({ form: 'prefix' as const, prefix })),
      fc.constant({ form: 'filter' as const }),
      word.map((prefix) => ({ form: 'filter' as const, prefix })),
      tags.map((some) => ({ form: 'filter' as const, tags: some.slice(0, 1) })),
      fc.record({ form: fc.constant('and' as const), prefix: word, tags, greaterThan: fc.nat(9) }),
    );
    const rules = fc.uniqueArray(
      fc.record({
        id: fc.string({ unit: fc.constantFrom('a', 'B', '"', '💾'), minLength: 1, maxLength: 4 }),
        status: fc.constantFrom('Enabled' as const, 'Disabled' as const),
        scope,
        expiration: fc.oneof(
          fc.record({ days: fc.integer({ min: 1, max: 9999 }) }),
          fc.integer({ min: 1, max: 99_999 }).map((day) => ({ date: day * 86_400_000 })),
        ),
        noncurrent: fc.record({ days: fc.integer({ min: 1 }), newerVersions: fc.integer({ min: 1, max: 100 }) }),
      }),
      { selector: ({ id }) => id, minLength: 1, maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(rules, async (some) => {
        expect(await readText(lifecycle.write(some, namespace))).toEqual(some);
      }),
      { numRuns: runs(100) },
    );
  });
});
