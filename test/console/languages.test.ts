import { describe, expect, it } from 'vitest';
import { de } from '../../console/messages/de/de.ts';
import { operators as operatorsGerman } from '../../console/messages/de/operators.ts';
import { en } from '../../console/messages/en/en.ts';
import { operators } from '../../console/messages/en/operators.ts';

type Text = string | ((...parameters: string[]) => string);

/** All texts of a dictionary, by their paths. */
function textsOf(dictionary: object, path = ''): [path: string, text: Text][] {
  return Object.entries(dictionary).flatMap(([name, value]: [string, Text | object]) =>
    typeof value === 'object' ? textsOf(value, `${path}${name}.`) : [[path + name, value] as [string, Text]],
  );
}

const parameters = ['«first»', '«second»', '«third»', '«fourth»'];
const said = (text: Text): string => (typeof text === 'function' ? text(...parameters) : text);

const english = textsOf({ ...en, operators });
const german = new Map(textsOf({ ...de, operators: operatorsGerman }));

/** Words that are the same in both languages. */
const shared =
  /^(?:ACL|AWS CLI|Alarm|Buckets?|CORS|Compliance|ETag|Governance|Host|Links|Maximum|Minimum|ms|Name|OK|Pause|Region|Status|Tags|Version|Website|Zip|curl|–|[^a-z]*)$/;

describe('the second language', () => {
  it('has all messages, and no others', () => {
    expect(english.length).toBeGreaterThan(500);
    expect([...german.keys()].toSorted()).toEqual(english.map(([path]) => path).toSorted());
  });

  it('is German throughout', () => {
    const untranslated = english.filter(([path, text]) => said(text) === said(german.get(path)!));
    expect(untranslated.filter(([, text]) => !shared.test(said(text).replaceAll(/«\w+»/g, '')))).toEqual([]);
  });

  it('says whatever the first one says: no text is empty, and none leaves out what it is told', () => {
    for (const [path, text] of english) {
      const [first, second] = [said(text), said(german.get(path)!)];
      expect([path, second.trim()]).not.toEqual([path, '']);
      for (const each of parameters) expect([path, second.includes(each)]).toEqual([path, first.includes(each)]);
    }
  });
});
