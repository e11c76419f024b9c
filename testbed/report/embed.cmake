# Writes OUT, a source file in which EmbeddedFile(name) finds every file of FOLDER.
file(GLOB files ${FOLDER}/*)
set(entries "")
foreach(path IN LISTS files)
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(APPEND entries "    {\"${name}\", R\"__weir__(${text})__weir__\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"testbed/report/embedded.h\"

#include <cstdlib>
#include <cstring>

namespace weir {
namespace {

struct File {
  const char* name;
  const char* text;
};
constexpr File kFiles[] = {
${entries}};

}  // namespace

std::string EmbeddedFile(const char* name) {
  for (const File& file : kFiles) {
    if (std::strcmp(file.name, name) == 0) return file.text;
  }
  std::abort();
}

}  // namespace weir
")
