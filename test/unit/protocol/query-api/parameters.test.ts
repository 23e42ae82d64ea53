import { describe, expect, it } from 'vitest';
import { ActionForm } from '../../../../shared/protocol/query-api/action-form.ts';
import {
  called,
  list,
  secret,
  shownParameters,
  structure,
  text,
} from '../../../../shared/protocol/query-api/parameters.ts';

describe('what is written down of the parameters of an action', () => {
  const parameters = {
    name: called('UserName', text()),
    Tags: list(structure({ Key: text(), Value: text() }), 3),
    ArnList: list(text(), 3),
    Token: secret(text()),
  };
  const shown = (form: string) => shownParameters(parameters, ActionForm.parse(Buffer.from(form)));

  it('has the form of CloudTrail', () => {
    const form =
      'Action=A&UserName=bob&Tags.member.1.Key=a&Tags.member.1.Value=b&Tags.member.2.Key=c&ArnList.member.1=x';
    expect(shown(form)).toEqual({ userName: 'bob', tags: [{ key: 'a', value: 'b' }, { key: 'c' }], arnList: ['x'] });
  });

  it('leaves out secrets, and what the action does not have', () => {
    expect(shown('Action=A&Version=1&Token=secret&Token.member.1=secret&Password=secret&UserName=bob')).toEqual({
      userName: 'bob',
    });
  });

  it('takes any names', () => {
    expect(shown('UserName=bob&UserName.__proto__.x=1&Tags.constructor=2&ArnList.member=3')).toEqual({
      userName: 'bob',
      tags: { constructor: '2' },
      arnList: { member: '3' },
    });
  });
});
