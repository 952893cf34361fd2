// The TypeScript SDK that speaks 2026-07-28, in the mode that the test names.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { capabilities, clientInfo, extensions, lookForApps, mode, refusalOf, report, requestInit, study, url } from './journey.mjs';

const pinned = mode === 'auto' || mode === 'legacy' ? mode : { pin: mode };
const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: pinned } });
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
await client.connect(transport);
if (extensions) report(await lookForApps(client));
const { tools } = await client.listTools();
const seen = {
    server: client.getServerVersion()?.name,
    protocol: client.getNegotiatedProtocolVersion(),
    tools: tools.map((tool) => tool.name),
    resources: (await client.listResources()).resources,
    study: await study((name, args) => client.callTool({ name, arguments: args })),
    unknownTool: await refusalOf(() => client.callTool({ name: 'nonsense' })),
    unknownResource: await refusalOf(() => client.readResource({ uri: 'ui://nothing' })),
};
await client.close();
report(seen);
